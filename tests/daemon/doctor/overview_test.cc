// system.overview: what runs, waits, was and comes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "tests/daemon/support/server_test.h"

namespace moil::daemon::test {
namespace {

using ::testing::HasSubstr;

class Overview : public ServerTest {
 protected:
  Overview() { import_model(server_); }
  Json overview() const { return call("system.overview"); }
  std::string attention() const { return overview()["attention"].at(0); }
  void add_schedule(const std::string& name, const std::string& job) const {
    call("schedule.add",
         {{"schedule",
           {{"name", name}, {"only_if", nullptr}, {"job", job_named(job, server_.socket())}}}});
  }
};

TEST_F(Overview, WhatRunsTellsItsPositionAndOthersWaitForIt) {
  const std::int64_t slow = submit("slow");
  submit("night", false);
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
  submit("night", false);
  EXPECT_EQ(overview()["waiting"][0]["for"], "outside the window 01:00-06:00");
}

TEST_F(Overview, TheLastNightIsToldWithItsVersion) {
  run_job("night");
  Json last = overview()["last_night"];
  EXPECT_EQ(last["job"], 1);
  EXPECT_EQ(last["version"], 2);
  EXPECT_EQ(last["in_service"], true);
  EXPECT_DOUBLE_EQ(last["local_after"], 0.98);
  EXPECT_DOUBLE_EQ(last["seconds"], 1.5);
  call("model.rollback", {{"model", "digits"}});
  EXPECT_EQ(overview()["last_night"]["in_service"], false);
  run_job("reject", "rejected-by-guard");
  last = overview()["last_night"];
  EXPECT_EQ(last["state"], "rejected-by-guard");
  EXPECT_TRUE(last["version"].is_null());
}

TEST_F(Overview, AScheduleTellsWhenItComesHowLongItTakesAndThatItFailed) {
  server_.world.minute = 720;
  add_schedule("nightly", "night");
  Json next = overview()["next_nights"][0];
  EXPECT_EQ(next["schedule"], "nightly");
  EXPECT_TRUE(next["at"].is_string());
  EXPECT_TRUE(next["seconds"].is_null());
  const std::int64_t id = call("schedule.run", {{"name", "nightly"}})["id"];
  wait_for(id);
  EXPECT_DOUBLE_EQ(overview()["next_nights"][0]["seconds"], 1.5);
  EXPECT_TRUE(overview()["attention"].empty());
  add_schedule("failing", "bad-data");
  const std::int64_t bad = call("schedule.run", {{"name", "failing"}})["id"];
  wait_for(bad, "failed");
  EXPECT_THAT(attention(),
              HasSubstr("schedule failing: its last job, 2, failed: sample 3 is not an image"));
}

TEST_F(Overview, NightsThatWereLostNeedAPersonAndNameTheirCause) {
  FakeWorld& world = server_.world;
  const auto lost = [&] { return call("system.status")["window"]["nights_waited"]; };
  world.io_pressure = 0.95;
  world.minute = 720;
  submit("night", false);
  for (int night = 1; night <= 7; ++night) {
    world.minute = 180;
    ASSERT_TRUE(eventually([&] {
      const Json waited = call("system.status")["window"]["waited"];
      return !waited.empty();
    }));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    world.minute = 720;
    ASSERT_TRUE(eventually([&] { return lost() == night; })) << night;
  }
  const Json window = call("system.status")["window"];
  EXPECT_EQ(window["nights_waited_for"], "io");
  EXPECT_THAT(attention(),
              HasSubstr("jobs have waited for 7 nights without a start, longest for io: work waits "
                        "for the disk (95% of the last minute; 30% are allowed)"));
}

TEST_F(Overview, AScheduleWhoseWindowsTheDeviceSleepsThroughNeverComesAndSaysSo) {
  server_.world.minute = 720;
  add_schedule("nightly", "night");
  server_.world.clock_ahead += 24 * 3'600'000;  // asleep from noon to noon
  EXPECT_TRUE(overview()["attention"].empty()) << "once may be";
  for (const bool enabled : {false, true}) {
    call("schedule.enable", {{"name", "nightly"}, {"enabled", enabled}});
    if (!enabled) server_.world.clock_ahead += 30 * 24 * std::int64_t{3'600'000};
  }
  EXPECT_TRUE(overview()["attention"].empty()) << "it rested meanwhile";
  server_.world.clock_ahead += 24 * 3'600'000;
  server_.world.clock_ahead += 24 * 3'600'000;
  EXPECT_THAT(attention(),
              HasSubstr("schedule nightly does not come: 2 nights have gone by in which the device "
                        "was off or asleep in the window 01:00-06:00: leave the device on"));
  submit("night", false);
  server_.world.clock_ahead += 48 * 3'600'000;
  EXPECT_THAT(attention(), HasSubstr("jobs wait and do not start"));
  server_.world.minute = 180;
  EXPECT_TRUE(eventually([&] { return overview()["attention"].empty(); })) << "it was awake";
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
  EXPECT_THAT(overview()["waiting"][0]["for"], HasSubstr("busy"));
  EXPECT_TRUE(overview()["attention"].empty());
  server.world.steady_ahead += 2 * 3'600'000;
  submit(server.socket(), "night", false);
  ASSERT_TRUE(eventually([&] { return !overview()["attention"].empty(); }));
  EXPECT_THAT(overview()["attention"][0].get<std::string>(),
              HasSubstr("jobs have waited 1 h of this night (20 % of the window) for load"));
}

}  // namespace
}  // namespace moil::daemon::test
