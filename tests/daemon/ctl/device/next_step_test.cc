#include "daemon/ctl/device/next_step.h"

#include <gtest/gtest.h>

#include <functional>

namespace moil::daemon::ctl {
namespace {

Standing at_rest() {
  return {.overview = {{"last_night", {{"state", "succeeded"}, {"job", 12}}},
                       {"next_nights", {{{"at", "2026-11-03T01:00:00Z"}}}},
                       {"attention", Json::array()}},
          .models = {{{"model", "pets"}, {"version", 1}, {"active", true}}},
          .labelled = 40,
          .unlabelled = 0};
}

std::string said(const std::function<void(Standing&)>& change) {
  Standing standing = at_rest();
  change(standing);
  return next_step(standing);
}

TEST(NextStep, IsWhatAPersonDoesBestNext) {
  EXPECT_EQ(next_step(at_rest()), "nothing: the next night is at 2026-11-03T01:00:00Z");
  EXPECT_EQ(said([](Standing& s) { s.models = Json::array(); }),
            "no model yet: moilctl setup FOLDER");
  EXPECT_EQ(said([](Standing& s) { s.models[0]["active"] = false; }),
            "no model yet: moilctl setup FOLDER");
  EXPECT_EQ(said([](Standing& s) { s.labelled = 0; }), "no samples yet: moilctl setup FOLDER");
  EXPECT_EQ(said([](Standing& s) { s.unlabelled = 12; }),
            "12 samples have no label: moilctl review");
  EXPECT_EQ(said([](Standing& s) { s.unlabelled = 1; }), "1 sample has no label: moilctl review");
  EXPECT_EQ(said([](Standing& s) { s.overview["attention"] = {"a disk is full"}; }),
            "see to the ATTENTION above: moilctl doctor");
  EXPECT_EQ(said([](Standing& s) { s.overview["last_night"]["state"] = "rejected-by-guard"; }),
            "last night was kept back: moilctl report --last");
  EXPECT_EQ(said([](Standing& s) { s.overview["last_night"]["state"] = "failed"; }),
            "last night failed: moilctl logs 12");
  EXPECT_EQ(said([](Standing& s) { s.overview["next_nights"] = Json::array(); }),
            "no schedule, so no night comes by itself: moilctl schedule add FILE");
  EXPECT_EQ(said([](Standing& s) { s.overview["next_nights"][0]["at"] = nullptr; }),
            "no schedule is enabled: moilctl schedule list");
}

// Of two things the one that keeps the other from being of use comes first.
TEST(NextStep, IsOneAlone) {
  EXPECT_EQ(said([](Standing& s) {
              s.unlabelled = 3;
              s.overview["last_night"]["state"] = "rejected-by-guard";
            }),
            "3 samples have no label: moilctl review");
  EXPECT_EQ(said([](Standing& s) {
              s.unlabelled = 3;
              s.models = Json::array();
            }),
            "no model yet: moilctl setup FOLDER");
  EXPECT_EQ(said([](Standing& s) { s.overview = nullptr; }), "nothing") << "of an older daemon";
}

}  // namespace
}  // namespace moil::daemon::ctl
