// system.overview: what runs, waits, was and comes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/daemon/support/test_server.h"

namespace moil::daemon::test {
namespace {

using ::testing::HasSubstr;

class Overview : public ::testing::Test {
 protected:
  Overview() { import_model(server_); }
  Json overview() const { return result_of(server_.socket(), "system.overview"); }

  TempFolder folder_;
  TestServer server_{folder_ / "state"};
};

TEST_F(Overview, WhatRunsTellsItsPositionAndOthersWaitForIt) {
  const std::int64_t slow = submit(server_.socket(), "slow");
  submit(server_.socket(), "night", false);
  ASSERT_TRUE(eventually([&] { return overview()["running"].value("stage", Json()) == "train"; }));
  const Json seen = overview();
  EXPECT_EQ(seen["running"]["job"], slow);
  EXPECT_EQ(seen["running"]["name"], "slow");
  EXPECT_EQ(seen["running"]["total"], 20);
  EXPECT_EQ(seen["waiting_count"], 1);
  EXPECT_EQ(seen["waiting"][0]["for"], "job " + std::to_string(slow) + ", which runs");
  EXPECT_TRUE(seen["last_night"].is_null());
}

TEST_F(Overview, WhatWaitsForTheWindowSaysSo) {
  server_.world.minute = 720;
  submit(server_.socket(), "night", false);
  EXPECT_EQ(overview()["waiting"][0]["for"], "outside the window 01:00-06:00");
}

TEST_F(Overview, TheLastNightIsToldWithItsVersion) {
  wait_for(server_.socket(), submit(server_.socket(), "night"), "succeeded");
  Json last = overview()["last_night"];
  EXPECT_EQ(last["job"], 1);
  EXPECT_EQ(last["version"], 2);
  EXPECT_EQ(last["in_service"], true);
  EXPECT_DOUBLE_EQ(last["local_after"], 0.98);
  EXPECT_DOUBLE_EQ(last["seconds"], 1.5);
  result_of(server_.socket(), "model.rollback", {{"model", "digits"}});
  EXPECT_EQ(overview()["last_night"]["in_service"], false);
  wait_for(server_.socket(), submit(server_.socket(), "reject"), "rejected-by-guard");
  last = overview()["last_night"];
  EXPECT_EQ(last["state"], "rejected-by-guard");
  EXPECT_TRUE(last["version"].is_null());
}

TEST_F(Overview, AScheduleTellsWhenItComesHowLongItTakesAndThatItFailed) {
  Json job = job_named("night", server_.socket());
  server_.world.minute = 720;
  result_of(server_.socket(), "schedule.add",
            {{"schedule", {{"name", "nightly"}, {"only_if", nullptr}, {"job", job}}}});
  Json next = overview()["next_nights"][0];
  EXPECT_EQ(next["schedule"], "nightly");
  EXPECT_TRUE(next["at"].is_string());
  EXPECT_TRUE(next["seconds"].is_null());
  const std::int64_t id = result_of(server_.socket(), "schedule.run", {{"name", "nightly"}})["id"];
  wait_for(server_.socket(), id, "succeeded");
  EXPECT_DOUBLE_EQ(overview()["next_nights"][0]["seconds"], 1.5);
  EXPECT_TRUE(overview()["attention"].empty());
  job["name"] = "bad-data";
  result_of(server_.socket(), "schedule.add",
            {{"schedule", {{"name", "failing"}, {"only_if", nullptr}, {"job", job}}}});
  const std::int64_t bad = result_of(server_.socket(), "schedule.run", {{"name", "failing"}})["id"];
  wait_for(server_.socket(), bad, "failed");
  EXPECT_THAT(overview()["attention"][0].get<std::string>(),
              HasSubstr("schedule failing: its last job, 2, failed: sample 3 is not an image"));
}

// Time goes by between two looks, and each counts for three polls at the most.
TEST(OverviewOfWaits, ANightThatWasNeverIdleEnoughNeedsAPerson) {
  const TempFolder folder;
  Config config = quick_config();
  config.poll_seconds = 1200;
  TestServer server(folder / "state", config);
  import_model(server);
  server.world.load = 0.9;
  const auto overview = [&] { return result_of(server.socket(), "system.overview"); };
  submit(server.socket(), "night", false);
  EXPECT_THAT(overview()["waiting"][0]["for"].get<std::string>(), HasSubstr("busy"));
  EXPECT_TRUE(overview()["attention"].empty());
  server.world.steady_ahead += 2 * 3'600'000;
  submit(server.socket(), "night", false);
  ASSERT_TRUE(eventually([&] { return !overview()["attention"].empty(); }));
  EXPECT_THAT(overview()["attention"][0].get<std::string>(),
              HasSubstr("jobs have waited 1 h of this night (20 % of the window) for load"));
}

}  // namespace
}  // namespace moil::daemon::test
