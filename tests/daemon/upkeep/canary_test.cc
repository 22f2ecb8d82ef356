// Promoted versions against what users label since.
#include "daemon/upkeep/canary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "tests/daemon/support/server_test.h"

namespace moil::daemon::test {
namespace {

TEST(SignTest, IsOneOverAGamblersWealth) {
  EXPECT_DOUBLE_EQ(sign_test(0, 0), 1);
  EXPECT_NEAR(sign_test(5, 0), 6.0 / 63, 1e-12);
  EXPECT_NEAR(sign_test(7, 0), 8.0 / 255, 1e-12);
  EXPECT_DOUBLE_EQ(sign_test(0, 7), 1);
  EXPECT_LT(sign_test(600, 400), 1e-6);
  EXPECT_DOUBLE_EQ(sign_test(5000, 5000), 1);
}

// A version that is no worse is rolled back in one case of twenty at most, however many samples
// come and however often it is looked at.
TEST(SignTest, ManyLooksAreNoMoreChances) {
  std::map<std::int64_t, double> goes_on{{0, 1.0}};  // by the number of worse ones
  double stopped = 0;
  for (std::int64_t n = 1; n <= 150; ++n) {
    std::map<std::int64_t, double> next;
    for (const auto& [worse, chance] : goes_on) {
      for (const std::int64_t w : {worse, worse + 1}) {
        Canary canary;
        canary.worse = w;
        canary.better = n - w;
        (is_contradicted(canary) ? stopped : next[w]) += chance / 2;
      }
    }
    goes_on = std::move(next);
  }
  EXPECT_LT(stopped, 0.05);
  EXPECT_GT(stopped, 0.02) << "the bound is not idle";
}

TEST(SignTest, TheRuleAsksForBoth) {
  Canary canary;
  canary.worse = 6;
  EXPECT_FALSE(is_contradicted(canary));
  canary.worse = 7;
  EXPECT_TRUE(is_contradicted(canary));
  canary.better = 1;
  EXPECT_FALSE(is_contradicted(canary));
  canary.worse = 10;
  EXPECT_TRUE(is_contradicted(canary));
  canary.rule.contradictions = 11;
  EXPECT_FALSE(is_contradicted(canary));
}

class CanaryTest : public ServerTest {
 protected:
  CanaryTest() { import_model(server_); }
  std::int64_t night(const Json& canary, const std::string& model = "digits") const {
    Json job = job_named("night", server_.socket());
    job["model"] = model;
    job["canary"] = canary;
    const auto id = call("job.submit", {{"job", job}, {"now", true}})["id"].get<std::int64_t>();
    wait_for(id);
    return id;
  }
  std::string add(const std::string& text, const std::string& label) const {
    return ServerTest::add(label, text)["digest"];
  }
  // For the active version's canary.
  bool counts(const char* what, int expected, const std::string& model = "digits") const {
    return eventually([&] {
      const Json canary = version(0, model)["canary"];
      return canary.is_object() && canary[what] == expected && canary["waiting"] == 0;
    });
  }
};

TEST_F(CanaryTest, LabelsThatContradictTheVersionRollItBack) {
  add("wrong-since-2, but known before", "seven");
  const auto id = night(Json::object());
  EXPECT_EQ(version()["canary"]["rule"], Json({{"contradictions", 5}, {"significance", 0.05}}));
  for (int i = 0; i < 6; ++i) add("wrong-since-2 " + std::to_string(i), "seven");
  add("both are right", "seven");
  add("wrong-since-1: both are wrong", "seven");
  EXPECT_TRUE(counts("neither", 2));
  EXPECT_EQ(version()["canary"]["worse"], 6);
  EXPECT_EQ(version()["version"], 2);
  add("wrong-since-2 at last", "seven");
  ASSERT_TRUE(eventually([&] { return version()["version"] == 1; }));
  const Json gone = version(2)["withdrawn"];
  EXPECT_EQ(gone["cause"], "canary");
  EXPECT_THAT(gone["why"], ::testing::AllOf(::testing::HasSubstr("wrong of 7 samples"),
                                            ::testing::HasSubstr("p = 0.0314")));
  const Json last = call("job.get", {{"id", id}})["events"].back()["event"];
  EXPECT_EQ(last["event"], "note");
  EXPECT_THAT(last["message"],
              ::testing::HasSubstr("version 2 was rolled back, and version 1 is in service again"));
  EXPECT_TRUE(version(2)["canary"].is_null());
  const Json told = call("system.status")["rolled_back"];
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0]["version"], 2);
  EXPECT_EQ(told[0]["why"], gone["why"]);
}

TEST_F(CanaryTest, ACorrectionCountsAndSoDoesTheNextOne) {
  const std::string digest = add("wrong-since-2", "eight");
  night({{"contradictions", 1}, {"significance", 0.5}});
  call("label.relabel", {{"digest", digest}, {"labels", {"eight", "nine"}}});
  EXPECT_TRUE(counts("better", 1)) << "the version says nine, its parent seven";
  call("label.relabel", {{"digest", digest}, {"labels", {"seven"}}});
  EXPECT_TRUE(counts("worse", 1));
}

// Its parent says seven, and the version nine.
TEST_F(CanaryTest, AnythingElseIsRightOfWhatIsDenied) {
  night(Json::object());
  add("wrong-since-2: no nine", "!nine");
  EXPECT_TRUE(counts("worse", 1));
  add("wrong-since-2: no seven", "!seven");
  EXPECT_TRUE(counts("better", 1));
  add("wrong-since-2: no eight", "!eight");
  EXPECT_TRUE(counts("neither", 1));
}

// Whatever changes what is right of a sample has it asked about again, and what a label is taken
// from counts no more.
TEST_F(CanaryTest, EveryWayALabelChangesIsTold) {
  const std::string digest = add("wrong-since-2", "eight");
  night(Json::object());
  call("label.relabel", {{"digest", digest}, {"labels", {"seven"}}});
  EXPECT_TRUE(counts("worse", 1));
  call("label.undo");
  EXPECT_TRUE(counts("worse", 0)) << "both are wrong of an eight";
  EXPECT_TRUE(counts("neither", 1));
  call("label.merge", {{"from", "eight"}, {"into", "nine"}});
  EXPECT_TRUE(counts("better", 1));
  call("label.undo");
  EXPECT_TRUE(counts("better", 0));
  call("label.map", {{"label", "eight"}, {"global", {"seven"}}});
  EXPECT_TRUE(counts("worse", 1));
  call("label.undo");
  EXPECT_TRUE(counts("worse", 0));
  call("label.rename", {{"from", "eight"}, {"to", "seven"}});
  EXPECT_TRUE(counts("worse", 1));
  call("label.undo");
  EXPECT_TRUE(counts("worse", 0));
  call("label.assign", {{"samples", {digest}}, {"label", "nine"}});
  EXPECT_TRUE(counts("better", 1));
  call("label.assign", {{"samples", {digest}}, {"label", nullptr}});
  EXPECT_TRUE(counts("better", 0)) << "nobody says what it is any more";
  EXPECT_EQ(version()["canary"]["neither"], 0);
  call("label.undo");
  EXPECT_TRUE(counts("better", 1));
}

TEST_F(CanaryTest, OneThatFailsStopsNoOther) {
  import_model(server_, "broken");
  night(Json::object(), "broken");
  night(Json::object());
  std::ofstream(folder_ / "state/models/broken/2/broken") << "yes";
  add("wrong-since-2", "seven");
  EXPECT_TRUE(counts("worse", 1));
  EXPECT_EQ(version(0, "broken")["canary"]["worse"], 0);
  // It is asked again after a while.
  std::filesystem::remove(folder_ / "state/models/broken/2/broken");
  server_.world.steady_ahead += 11 * 60 * 1000;
  EXPECT_TRUE(counts("worse", 1, "broken"));
}

TEST_F(CanaryTest, ADamagedSampleCountsAsNone) {
  night(Json::object());
  server_.world.on_mains = false;
  const std::string damaged = add("wrong-since-2" + std::string(data::kInlineBytes, 'x'), "seven");
  const std::string gone = add("wrong-since-2" + std::string(data::kInlineBytes, 'y'), "seven");
  add("wrong-since-2", "seven");
  const auto file = [&](const std::string& digest) {
    return folder_ / "state/labels/files" / digest.substr(0, 2) / digest;
  };
  std::ofstream(file(damaged)) << "damaged";
  std::filesystem::remove(file(gone));
  server_.world.on_mains = true;
  EXPECT_TRUE(counts("worse", 1));
  EXPECT_EQ(version()["canary"]["neither"], 2);
}

// It is among others at first, and alone in the end.
TEST_F(CanaryTest, ASampleOfWhichTheWorkerDiesCountsAsNone) {
  night(Json::object());
  server_.world.on_mains = false;
  for (int i = 0; i < 3; ++i) add("wrong-since-2 " + std::to_string(i), "seven");
  add("it kills the worker", "seven");
  server_.world.on_mains = true;
  const bool is_done = eventually([&] {
    server_.world.steady_ahead += 11 * 60 * 1000;
    const Json canary = version()["canary"];
    return canary["worse"] == 3 && canary["neither"] == 1 && canary["waiting"] == 0;
  });
  EXPECT_TRUE(is_done) << version()["canary"];
}

TEST_F(CanaryTest, ALabelCountsAsWhatItStandsFor) {
  call("label.map", {{"label", "my seven"}, {"global", {"seven"}}});
  night(Json::object());
  add("wrong-since-2", "my seven");
  EXPECT_TRUE(counts("worse", 1));
}

TEST_F(CanaryTest, NothingIsLookedAtWhereNobodyAsked) {
  night(nullptr);
  add("wrong-since-2", "seven");
  EXPECT_TRUE(version()["canary"].is_null());
}

TEST_F(CanaryTest, ItWaitsForAnIdleMoment) {
  server_.world.on_mains = false;
  night(Json::object());
  add("wrong-since-2", "seven");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(version()["canary"]["worse"], 0);
  server_.world.on_mains = true;
  EXPECT_TRUE(counts("worse", 1));
}

TEST_F(CanaryTest, WhatIsForgottenCountsNoMore) {
  night(Json::object());
  const std::string digest = add("wrong-since-2", "seven");
  ASSERT_TRUE(counts("worse", 1));
  call("label.forget", {{"digest", digest}});
  EXPECT_TRUE(counts("worse", 0));
}

TEST_F(CanaryTest, TheNextVersionHasACanaryOfItsOwn) {
  night(Json::object());
  add("wrong-since-2", "seven");
  ASSERT_TRUE(counts("worse", 1));
  night(Json::object());
  EXPECT_EQ(version()["canary"]["parent"], 2);
  EXPECT_EQ(version()["canary"]["worse"], 0);
  EXPECT_TRUE(version(2)["canary"].is_null());
}

}  // namespace
}  // namespace moil::daemon::test
