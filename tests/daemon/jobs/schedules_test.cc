// Recurring nights: when they come, what keeps them back, and what they leave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "base/durations.h"
#include "tests/daemon/support/server_test.h"

namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

using ::testing::HasSubstr;

class Schedules : public ServerTest {
 protected:
  Schedules() {
    import_model(server_);
    fs::create_directories(pack_);
    write_pack("one");
  }

  void write_pack(const std::string& text) const { std::ofstream(pack_ / "pack.json") << text; }
  Json description(const std::string& name, Json changes = Json::object()) const {
    Json schedule = {{"name", name}, {"only_if", nullptr}, {"job", job_named("night", pack_)}};
    schedule.update(changes);
    return schedule;
  }
  Json add(const std::string& name, Json changes = Json::object()) const {
    return call("schedule.add", {{"schedule", description(name, std::move(changes))}});
  }
  Json get(const std::string& name) const { return call("schedule.get", {{"name", name}}); }
  Json jobs() const { return call("job.list")["jobs"]; }
  // Waits until the schedule's last job is this one and has ended.
  bool ran(const std::string& name, std::int64_t id) const {
    return eventually(
        [&] { return get(name)["last_job"] == id && job(id)["state"] == "succeeded"; });
  }
  bool remarked(const std::string& name, const std::string& words) const {
    return eventually(
        [&] { return get(name)["remark"].get<std::string>().find(words) != std::string::npos; });
  }
  // The clock, and the minute of the day with it.
  void pass(std::int64_t milliseconds) {
    server_.world.clock_ahead += milliseconds;
    server_.world.minute =
        static_cast<int>(((server_.world.minute + milliseconds / kMinute) % 1440 + 1440) % 1440);
  }

  const fs::path pack_ = folder_ / "pack";
};

TEST_F(Schedules, ANightComesOnceInEachWindow) {
  const Json added = add("nightly");
  EXPECT_EQ(added["every"], "night");
  ASSERT_TRUE(ran("nightly", 1));
  EXPECT_EQ(jobs()[0]["schedule"], "nightly");
  pass(60 * kMinute);  // 04:00, the same window
  EXPECT_FALSE(get("nightly")["next_at"].is_null());
  pass(kDay);
  ASSERT_TRUE(ran("nightly", 2));
  EXPECT_EQ(jobs().size(), 2U);
}

TEST_F(Schedules, OutsideOfTheWindowItWaitsForIt) {
  server_.world.minute = 720;
  const Json added = add("nightly");
  EXPECT_TRUE(added["why_not"].is_null());
  EXPECT_TRUE(added["last_job"].is_null());
  pass(14 * 60 * kMinute);  // 02:00
  EXPECT_TRUE(ran("nightly", 1));
}

TEST_F(Schedules, ACalendarNamesTheMoments) {
  add("hourly", {{"every", "hourly"}});
  EXPECT_TRUE(jobs().empty());
  pass(61 * kMinute);
  ASSERT_TRUE(ran("hourly", 1));
  server_.world.clock_ahead += 10 * 60 * kMinute;  // of those that were missed, one
  ASSERT_TRUE(ran("hourly", 2));
  EXPECT_EQ(jobs().size(), 2U);
}

TEST_F(Schedules, AMissedMomentMayBeLet) {
  add("strict", {{"every", "hourly"}, {"catch_up", false}});
  pass(150 * kMinute);
  EXPECT_TRUE(remarked("strict", "was missed"));
  EXPECT_TRUE(jobs().empty());
}

TEST_F(Schedules, OnlyWithNewLabels) {
  add("nightly", {{"only_if", {{"new_labels", 2}}}});
  EXPECT_TRUE(remarked("nightly", "0 samples were labelled since the last run; 2 are asked for"));
  ServerTest::add("seven", "one");
  EXPECT_THAT(get("nightly")["why_not"], HasSubstr("1 sample was labelled"));
  pass(kDay);
  EXPECT_TRUE(remarked("nightly", "1 sample was labelled"));
  ServerTest::add("seven", "two");
  EXPECT_TRUE(get("nightly")["why_not"].is_null());
  pass(kDay);
  ASSERT_TRUE(ran("nightly", 1));
  EXPECT_EQ(get("nightly")["remark"], "");
  pass(kDay);
  EXPECT_TRUE(remarked("nightly", "0 samples"));
  EXPECT_EQ(jobs().size(), 1U);
}

TEST_F(Schedules, ANightWithoutNewLabelsMakesNoNewVersion) {
  Json as_it_comes = description("nightly");
  as_it_comes.erase("only_if");
  call("schedule.add", {{"schedule", as_it_comes}});
  ASSERT_TRUE(ran("nightly", 1));  // its pack was never seen
  pass(kDay);
  EXPECT_TRUE(remarked("nightly", "0 samples were labelled since the last run; 1 is asked for"));
  EXPECT_EQ(jobs().size(), 1U);
  ServerTest::add("seven", "one");
  pass(kDay);
  EXPECT_TRUE(ran("nightly", 2));
}

TEST_F(Schedules, OrWithAChangedPack) {
  add("nightly", {{"only_if", {{"changed_pack", true}}}});
  ASSERT_TRUE(ran("nightly", 1));  // none was seen before
  pass(kDay);
  EXPECT_TRUE(remarked("nightly", "the same as before"));
  write_pack("another");
  pass(kDay);
  EXPECT_TRUE(ran("nightly", 2));
}

TEST_F(Schedules, AWrongClockHoldsNothingUp) {
  pass(3650 * kDay);
  add("nightly");
  ASSERT_TRUE(ran("nightly", 1));
  pass(-3650 * kDay);  // what was created and dealt with lies ahead now
  pass(kDay);
  EXPECT_TRUE(ran("nightly", 2));
}

TEST_F(Schedules, ACalendarGoesOnAfterAClockThatWasAheadForAWhile) {
  add("hourly", {{"every", "hourly"}});
  pass(3650 * kDay);
  ASSERT_TRUE(ran("hourly", 1));
  pass(-3650 * kDay);  // what was dealt with lies ahead now
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(jobs().size(), 1U) << "nothing is due for that";
  pass(61 * kMinute);
  ASSERT_TRUE(ran("hourly", 2));
  pass(61 * kMinute);
  ASSERT_TRUE(ran("hourly", 3));
}

// A device without a clock of its own begins at some past date, until it is told the time.
TEST_F(Schedules, AClockThatIsBehindForAWhileRunsNothingTwice) {
  add("weekly", {{"every", "weekly"}});
  pass(7 * kDay);
  ASSERT_TRUE(ran("weekly", 1));
  for (int start = 0; start < 3; ++start) {
    pass(-300 * kDay);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    pass(300 * kDay);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
  }
  pass(-1 * kMinute / 2);  // put right by seconds
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_EQ(jobs().size(), 1U);
}

TEST_F(Schedules, MomentsOfACalendarThatWentByWhileItRestedDoNotCount) {
  add("hourly", {{"every", "hourly"}, {"enabled", false}});
  server_.world.clock_ahead += 10 * 60 * kMinute;
  call("schedule.enable", {{"name", "hourly"}, {"enabled", true}});
  EXPECT_EQ(get("hourly")["remark"], "it was disabled until then");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(jobs().empty()) << "it does not run because it is enabled";
  call("schedule.enable", {{"name", "hourly"}, {"enabled", true}});  // once more
  pass(61 * kMinute);
  EXPECT_TRUE(ran("hourly", 1));
}

TEST_F(Schedules, TheNightInWhichItIsEnabledCountsUnlessItHadItsJob) {
  add("nightly", {{"enabled", false}});
  const auto enable = [&](bool enabled) {
    call("schedule.enable", {{"name", "nightly"}, {"enabled", enabled}});
  };
  enable(true);
  ASSERT_TRUE(ran("nightly", 1));
  enable(false);
  enable(true);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(jobs().size(), 1U);
}

TEST_F(Schedules, ALastJobThatHasNotEndedIsEnough) {
  server_.world.on_mains = false;  // its jobs wait
  add("nightly");
  EXPECT_TRUE(eventually([&] { return get("nightly")["last_job"] == 1; }));
  EXPECT_THAT(get("nightly")["why_not"], "waits for job 1");
  pass(kDay);
  EXPECT_TRUE(remarked("nightly", "it waits for job 1"));
  EXPECT_EQ(jobs().size(), 1U);
  EXPECT_THAT(complaint("schedule.run", {{"name", "nightly"}}), HasSubstr("cancel it first"));
}

TEST_F(Schedules, HigherPrioritiesGoFirst) {
  server_.world.on_mains = false;
  add("a-low", {{"priority", -1}});
  EXPECT_TRUE(eventually([&] { return !get("a-low")["last_job"].is_null(); }));
  add("high", {{"priority", 5}});
  EXPECT_TRUE(eventually([&] { return !get("high")["last_job"].is_null(); }));
  const std::int64_t first = get("high")["last_job"], second = get("a-low")["last_job"];
  EXPECT_LT(second, first);
  const std::int64_t urgent = submit("night");  // at once, whatever the device says
  EXPECT_LT(wait_for(urgent)["version"], 4) << "before those that wait";
  server_.world.on_mains = true;
  const Json high = wait_for(first);
  const Json low = wait_for(second);
  EXPECT_LT(high["version"], low["version"]);
}

TEST_F(Schedules, AreDisabledRunAndRemoved) {
  add("nightly", {{"enabled", false}});
  EXPECT_EQ(get("nightly")["why_not"], "it is disabled");
  EXPECT_TRUE(get("nightly")["next_at"].is_null());
  EXPECT_EQ(call("schedule.run", {{"name", "nightly"}})["id"], 1);
  ASSERT_TRUE(ran("nightly", 1));
  call("schedule.enable", {{"name", "nightly"}, {"enabled", true}});
  pass(kDay);
  ASSERT_TRUE(ran("nightly", 2));
  call("schedule.rm", {{"name", "nightly"}});
  EXPECT_TRUE(call("schedule.list")["schedules"].empty());
  EXPECT_EQ(jobs().size(), 2U);
}

TEST_F(Schedules, WhatIsWrongIsRefusedAtOnce) {
  add("nightly", {{"enabled", false}});
  EXPECT_THAT(complaint("schedule.add", {{"schedule", description("nightly")}}),
              HasSubstr("remove it first"));
  const std::pair<Json, const char*> wrong[] = {
      {description("x", {{"every", "sometimes"}}), "/schedule/every"},
      {description("x", {{"only_if", Json::object()}}), "/schedule/only_if"},
      {description("x", {{"only_if", {{"new_labels", 0}}}}), "/schedule/only_if/new_labels"},
      {description("x", {{"priority", 1000}}), "/schedule/priority"},
      {description("-x"), "/schedule/name"},
      {{{"name", "x"}, {"job", {{"name", "n"}}}}, "/schedule/job/model"},
      {{{"name", "x"}, {"job", job_named("night", "/nowhere")}}, "/schedule/job/global/pack"},
  };
  for (const auto& [schedule, pointer] : wrong)
    EXPECT_THAT(pointers("schedule.add", {{"schedule", schedule}}), ::testing::Contains(pointer));
  EXPECT_EQ(error_of("schedule.get", {{"name", "none"}}), "not_found");
}

TEST(ScheduleStore, OutlivesTheDaemon) {
  const TempFolder folder;
  std::int64_t created = 0;
  for (int life = 0; life < 2; ++life) {
    const TestServer server(folder / "state");
    if (life == 0) {
      import_model(server);
      const Json schedule = {
          {"name", "nightly"}, {"only_if", nullptr}, {"job", job_named("night", server.socket())}};
      result_of(server.socket(), "schedule.add", {{"schedule", schedule}});
      EXPECT_TRUE(eventually([&] {
        return result_of(server.socket(), "schedule.get", {{"name", "nightly"}})["last_job"] == 1;
      }));
      wait_for(server.socket(), 1, "succeeded");
    }
    const Json found = result_of(server.socket(), "schedule.get", {{"name", "nightly"}});
    EXPECT_EQ(found["last_job"], 1);
    EXPECT_EQ(found["job"]["model"], "digits");
    created += found["created_at"] != nullptr ? 1 : 0;
  }
  EXPECT_EQ(created, 2);
}

}  // namespace
}  // namespace moil::daemon::test
