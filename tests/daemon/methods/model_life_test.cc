// A version's life: where it comes from, what tells it from others, and going back from it for
// good.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/files/file.h"
#include "tests/daemon/support/server_test.h"

namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

class ModelLife : public ServerTest {
 protected:
  ModelLife() { import_model(server_); }
  std::int64_t night() const { return run_job("night")["id"]; }
};

TEST_F(ModelLife, AVersionKnowsWhereItComesFrom) {
  EXPECT_TRUE(version()["provenance"].is_null());  // imported
  const auto id = night();
  const Json origin = version()["provenance"];
  EXPECT_EQ(origin["job"], Json({{"id", id}, {"name", "night"}, {"schedule", nullptr}}));
  EXPECT_EQ(origin["build"], "9.9");
  EXPECT_EQ(origin["weights"], "weights of 2");
  EXPECT_EQ(origin["data"]["local"]["samples"], 3);
  EXPECT_EQ(origin["settings"]["global"]["pack"], server_.socket().string());
  EXPECT_EQ(origin["settings"]["train"]["epochs"], 10);
  EXPECT_FALSE(origin["settings"].contains("name"));
}

TEST_F(ModelLife, TwoVersionsAreComparedByTheNightBetweenThem) {
  night();
  const Json diff = call("model.diff", {{"model", "digits"}, {"a", 1}, {"b", 2}});
  EXPECT_EQ(diff["a"]["version"], 1);
  EXPECT_EQ(diff["b"]["version"], 2);
  EXPECT_EQ(diff["layers"][0]["identical"], false);
  EXPECT_EQ(diff["same_held_out"], true);
  const Json& seven = diff["labels"][0];
  EXPECT_EQ(seven["global"]["a"], Json({{"held_out", 4}, {"right", 4}}));
  EXPECT_EQ(seven["global"]["b"], Json({{"held_out", 4}, {"right", 3}}));
  EXPECT_EQ(seven["local"]["b"], Json({{"held_out", 2}, {"right", 2}}));
  EXPECT_TRUE(diff["labels"][1]["global"].is_null());
  const Json back = call("model.diff", {{"model", "digits"}, {"a", 2}, {"b", 1}});
  EXPECT_EQ(back["labels"][0]["global"]["a"]["right"], 3);
  EXPECT_EQ(back["labels"][0]["global"]["b"]["right"], 4);
}

TEST_F(ModelLife, VersionsOfNoCommonNightAreComparedByTheirOwn) {
  night();
  night();
  import_model(server_);
  const Json known = call("model.diff", {{"model", "digits"}, {"a", 3}, {"b", 3}});
  EXPECT_EQ(known["layers"][0]["identical"], true);
  EXPECT_EQ(known["same_held_out"], true);
  const Json unknown = call("model.diff", {{"model", "digits"}, {"a", 2}, {"b", 4}});
  EXPECT_TRUE(unknown["same_held_out"].is_null());
  EXPECT_TRUE(unknown["labels"][0]["global"]["b"].is_null());
  EXPECT_EQ(error_of("model.diff", {{"model", "digits"}, {"a", 2}, {"b", 9}}), "not_found");
}

TEST_F(ModelLife, AnExportNeedsAFileToWriteTo) {
  EXPECT_THAT(pointers("model.export", {{"model", "digits"}, {"file", 0}}),
              ::testing::ElementsAre("/file"));
  EXPECT_THAT(pointers("model.export", {{"model", "digits"}, {"file", 0}, {"format", "keras"}}),
              ::testing::ElementsAre("/format"));
}

// --- going back ---------------------------------------------------------------------------------

TEST_F(ModelLife, ANightAfterARollbackStartsFromWhereItWent) {
  night();
  night();  // 3, made from 2
  call("model.rollback", {{"model", "digits"}, {"why", "it takes cats for dogs"}});
  const Json gone = version(3)["withdrawn"];
  EXPECT_EQ(gone["cause"], "user");
  EXPECT_EQ(gone["why"], "it takes cats for dogs");
  EXPECT_TRUE(version(2)["withdrawn"].is_null());
  const auto slow = submit("slow");
  EXPECT_EQ(wait_for(slow, "running")["base_version"], 2);
  const Json file = parsed_json(read_text(StateLayout(state()).job_file(slow)));
  ASSERT_EQ(file["withdrawn"].size(), 1U);
  EXPECT_EQ(file["withdrawn"][0], Json({{"version", 3}, {"weights", "weights of 3"}}));
  EXPECT_EQ(file["anchor_version"], 1);
  let_go();
  wait_for(slow);
  EXPECT_EQ(version()["parent"], 2);
  call("model.activate", {{"model", "digits"}, {"version", 3}});
  EXPECT_TRUE(version(3)["withdrawn"].is_null()) << "who wants it back may have it";
}

TEST_F(ModelLife, WhatIsRolledBackFromIsNoAnchor) {
  night();
  call("model.anchor", {{"model", "digits"}, {"version", 2}});
  call("model.rollback", {{"model", "digits"}});
  const Json anchor = call("model.anchor", {{"model", "digits"}});
  EXPECT_EQ(anchor, Json({{"model", "digits"}, {"version", 1}, {"named", false}}));
}

TEST_F(ModelLife, ANightThatWaitsBeginsAnewFromWhatIsPutInService) {
  night();
  server_.world.minute = 180;
  const auto slow = submit("slow", false);
  wait_for(slow, "running");
  server_.world.minute = 720;
  wait_for(slow, "queued");
  call("model.activate", {{"model", "digits"}, {"version", 1}});
  EXPECT_TRUE(job(slow)["base_version"].is_null());
  let_go();
  server_.world.minute = 180;
  wait_for(slow);
  EXPECT_EQ(version()["parent"], 1);
}

}  // namespace
}  // namespace moil::daemon::test
