// What is kept and what goes: retention, what is removed when it is asked for, and lists of any
// length.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/durations.h"
#include "base/files/file.h"
#include "daemon/state/disk_usage.h"
#include "daemon/state/trash.h"
#include "tests/daemon/support/server_test.h"

namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

class Room : public StartedTest {
 protected:
  fs::path folder_of(int number) const {
    return state() / "models/digits" / std::to_string(number);
  }
  std::int64_t night() const { return run_job("night")["id"]; }
  std::vector<int> versions() const {
    std::vector<int> found;
    const Json models = call("model.list")["models"];
    for (const Json& v : models) found.push_back(v["version"]);
    return found;
  }
  // The versions that stay once the housekeeping has looked.
  bool come_to(const std::vector<int>& expected) const {
    return eventually([&] { return versions() == expected; });
  }
  void run(const char* sql) const {
    Database database(state() / "moild.db", Database::Access::kReadWrite);
    database.run("PRAGMA foreign_keys = ON");
    database.run(sql);
  }
};

TEST_F(Room, TheLastVersionsAndTheAnchorStay) {
  start();
  import_model(*server_);
  for (int i = 0; i < 7; ++i) night();  // 2 to 8
  EXPECT_TRUE(come_to({1, 4, 5, 6, 7, 8})) << "1 is the anchor";
  EXPECT_TRUE(eventually([&] { return !fs::exists(folder_of(2)) && !fs::exists(folder_of(3)); }));
  EXPECT_TRUE(fs::exists(folder_of(4)));
  EXPECT_EQ(version(4)["parent"], 1);
  EXPECT_EQ(call("model.anchor", {{"model", "digits"}})["version"], 1);
}

TEST_F(Room, WhatIsPinnedOrGoneBackToStays) {
  Config config = quick_config();
  config.retention.versions = 1;
  start(config);
  import_model(*server_);
  night();
  call("model.pin", {{"model", "digits"}, {"version", 2}});
  night();
  night();
  EXPECT_TRUE(come_to({1, 2, 3, 4})) << "3 is where a rollback goes";
  night();
  EXPECT_TRUE(come_to({1, 2, 4, 5}));
  EXPECT_EQ(error_of("model.rm", {{"model", "digits"}, {"version", 2}}), "failed_precondition");
  call("model.pin", {{"model", "digits"}, {"version", 2}, {"pinned", false}});
  call("system.clean");
  EXPECT_EQ(versions(), (std::vector<int>{1, 4, 5}));
  EXPECT_EQ(error_of("model.pin", {{"model", "digits"}, {"version", 2}}), "not_found");
}

TEST_F(Room, WithoutALimitEverythingStays) {
  Config config = quick_config();
  config.retention = {std::nullopt, std::nullopt, std::nullopt};
  start(config);
  import_model(*server_);
  for (int i = 0; i < 6; ++i) night();
  run("UPDATE jobs SET finished_at = 0 WHERE id < 6");
  call("system.clean");
  EXPECT_EQ(versions().size(), 7U);
  EXPECT_EQ(call("job.list")["jobs"].size(), 6U);
}

TEST_F(Room, WhatAJobBeganWithStays) {
  Config config = quick_config();
  config.retention.versions = 1;
  start(config);
  import_model(*server_);
  night();
  const auto slow = submit("slow", false);  // from 2; 3 is to be its own
  wait_for(slow, "running");
  server_->world.minute = 720;
  wait_for(slow, "queued");
  for (int i = 0; i < 3; ++i) night();  // 4 to 6
  EXPECT_TRUE(come_to({1, 2, 5, 6}));
  server_->world.minute = 180;
  let_go();
  EXPECT_EQ(wait_for(slow)["base_version"], 2);
}

TEST_F(Room, OldJobsGoAndTheirVersionsStay) {
  start();
  import_model(*server_);
  const auto old = night(), young = night();
  run("UPDATE jobs SET finished_at = finished_at - 400 * 86400000 WHERE id = 1");
  start();  // looks at once
  ASSERT_TRUE(eventually([&] { return error_of("job.get", {{"id", old}}) == "not_found"; }));
  EXPECT_EQ(error_of("job.get", {{"id", young}}), "none");
  const Json made = version(2);
  EXPECT_EQ(made["job"], old);  // what made it is known for good
  EXPECT_EQ(made["provenance"]["job"]["id"], old);
  EXPECT_EQ(call("model.anchor", {{"model", "digits"}})["version"], 1);
  EXPECT_GT(night(), young);
}

// A clock that went wrong makes nothing old: ages are counted from the last job's end.
TEST_F(Room, AClockThatIsAheadRemovesNothing) {
  start();
  import_model(*server_);
  const auto id = night();
  server_->world.clock_ahead = 1000 * kDay;
  EXPECT_EQ(call("system.clean")["jobs"]["count"], 0);
  EXPECT_EQ(error_of("job.get", {{"id", id}}), "none");
}

TEST_F(Room, AJobThatHasEndedCanBeRemoved) {
  start();
  import_model(*server_);
  const auto rejected = submit("reject");
  wait_for(rejected, "rejected-by-guard");
  server_->world.minute = 720;
  const auto queued = submit("night", false);
  EXPECT_EQ(error_of("job.rm", {{"id", queued}}), "failed_precondition");
  EXPECT_EQ(error_of("job.rm", {{"id", 99}}), "not_found");
  fs::create_directories(state() / "jobs/1");
  EXPECT_EQ(call("job.rm", {{"id", rejected}}), Json({{"id", rejected}}));
  EXPECT_EQ(error_of("job.get", {{"id", rejected}}), "not_found");
  EXPECT_FALSE(fs::exists(state() / "jobs/1"));
  server_->world.minute = 180;
  EXPECT_EQ(wait_for(queued)["version"], 3)
      << "the number that the removed job had is not used again";
}

// The number of a process that has ended.
pid_t dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

TEST_F(Room, CleaningSaysFirstWhatItWouldRemove) {
  start();
  import_model(*server_);
  night();
  call("system.clean");  // after what is done by itself
  fs::create_directories(state() / "models/digits/.incoming-1");
  fs::create_directories(state() / "jobs/1");
  std::ofstream(state() / "jobs/1/checkpoint") << std::string(100'000, 'x');
  const StateLayout layout(state());
  const fs::path abandoned = layout.plan(dead_process(), 7), going_on = layout.plan(::getpid(), 8);
  std::ofstream(abandoned) << "{}";
  std::ofstream(going_on) << "{}";
  // A clock that was set meanwhile makes nothing abandoned.
  fs::last_write_time(going_on, fs::file_time_type::clock::now() - std::chrono::hours(30000));
  fs::create_directories(state() / "jobs/77");  // of a job that is not known yet
  fs::create_directories(state() / "models/digits/9");

  Json told = call("system.clean", {{"dry_run", true}});
  EXPECT_EQ(told["leftovers"]["count"], 3);
  EXPECT_GE(told["leftovers"]["bytes"], 100'000);
  EXPECT_TRUE(fs::exists(state() / "jobs/1"));
  EXPECT_TRUE(fs::exists(abandoned));

  const Json done = call("system.clean");
  told["dry_run"] = false;
  EXPECT_EQ(done, told);
  EXPECT_FALSE(fs::exists(state() / "jobs/1"));
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_FALSE(fs::exists(state() / "models/digits/.incoming-1"));
  EXPECT_TRUE(fs::exists(going_on));
  EXPECT_TRUE(fs::exists(state() / "jobs/77"));
  EXPECT_TRUE(fs::exists(state() / "models/digits/9"));
  EXPECT_EQ(call("system.clean")["bytes"], 0);
}

TEST_F(Room, TheFolderOfAFailedJobStaysUntilANewerOneSucceeds) {
  start();
  import_model(*server_);
  const auto failed = submit("bad-data");
  wait_for(failed, "failed");
  fs::create_directories(state() / "jobs/1");
  EXPECT_EQ(call("system.clean", {{"dry_run", true}})["leftovers"]["count"], 0);
  night();
  EXPECT_TRUE(eventually([&] { return !fs::exists(state() / "jobs/1"); }));
}

// What seemed to be of nothing may be of use again when it comes to be removed.
TEST_F(Room, AFolderThatIsOfUseAgainStays) {
  const StateLayout layout(state());
  for (const int job : {6, 7}) fs::create_directories(layout.job(job));
  fs::create_directories(layout.version("digits", 3));
  Kept before;
  before.jobs = {{"6"}, 9};
  before.versions["digits"].highest = 4;
  const auto left = find_leftovers(layout, before);
  ASSERT_EQ(left.size(), 2U);
  Kept now = before;
  now.jobs.names.insert("7");
  now.versions["digits"].names.insert("3");
  for (const Leftover& one : left) {
    EXPECT_FALSE(is_needed(one, before)) << one.path;
    EXPECT_TRUE(is_needed(one, now)) << one.path;
  }
}

TEST_F(Room, AJobThatIsCancelledAndTriedAgainKeepsWhatItMakes) {
  start();
  import_model(*server_);
  const auto id = submit("slow");
  for (int i = 0; i < 20; ++i) {
    wait_for(id, "running");
    call("job.cancel", {{"id", id}});
    wait_for(id, "cancelled");
    call("job.retry", {{"id", id}});
    call("system.clean");
  }
  wait_for(id, "running");
  call("system.clean");
  EXPECT_TRUE(fs::exists(StateLayout(state()).job_file(id)));
  let_go();
  wait_for(id);
}

TEST_F(Room, WhatIsThrownAwayLeavesItsPlaceAtOnceAndIsRemovedLater) {
  start();
  server_.reset();
  const StateLayout layout(state());
  const auto fill = [&] {
    fs::create_directories(layout.job(1) / "deep");
    std::ofstream(layout.job(1) / "deep" / "file") << "content";
  };
  for (int i = 0; i < 3; ++i) {
    fill();
    throw_away(layout, layout.job(1));
    EXPECT_FALSE(fs::exists(layout.job(1)));
  }
  throw_away(layout, layout.job(2));  // not there
  EXPECT_EQ(std::distance(fs::directory_iterator(layout.trash()), fs::directory_iterator()), 3);
  EXPECT_TRUE(has_trash(layout));
  start();
  EXPECT_TRUE(eventually([&] { return !has_trash(layout); })) << "also of an earlier run";
}

TEST_F(Room, TheDiskIsToldByWhatItIsFor) {
  start();
  import_model(*server_);
  std::ofstream(folder_of(1) / "weights.safetensors") << std::string(200'000, 'w');
  const Json disk = call("system.disk");
  EXPECT_GE(disk["parts"]["models"], 200'000);
  EXPECT_GT(disk["parts"]["database"], 0);
  EXPECT_GT(disk["parts"]["labels"], 0);
  EXPECT_GE(disk["parts"]["reserve"], quick_config().disk.reserve_bytes);
  EXPECT_GT(disk["free_bytes"], 0);
  ASSERT_EQ(disk["versions"].size(), 1U);
  EXPECT_GE(disk["versions"][0]["bytes"], 200'000);
  std::int64_t sum = 0;
  for (const Json& bytes : disk["parts"]) sum += bytes.get<std::int64_t>();
  EXPECT_EQ(disk["bytes"], sum);
}

// --- lists of any length ------------------------------------------------------------------------

std::size_t length_by_pages(const fs::path& socket, const std::string& method,
                            const std::string& member, int& pages, Json params = Json::object()) {
  std::size_t length = 0;
  for (Json next = Json::object(); next.is_object(); ++pages) {
    params.update(next);
    const Json reply = result_of(socket, method, params);
    EXPECT_LT(reply.dump().size(), std::size_t{1} << 20) << method;
    length += reply[member].size();
    next = reply["next"];
  }
  return length;
}

TEST_F(Room, NoListIsTooLongForAReply) {
  Config config = quick_config();
  config.retention.versions = std::nullopt;
  config.retention.days = std::nullopt;
  start(config);
  import_model(*server_);
  night();
  const std::string many =
      "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 2009) ";
  const std::string several =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) ";
  run((many + "INSERT INTO versions (model, version, state, created_at, summary) SELECT 'digits', "
              "i, 'ready', 0, hex(zeroblob(100)) FROM n")
          .c_str());
  run((several +
       "INSERT INTO schedules (name, priority, description, enabled, created_at, remark) "
       "SELECT 's' || i, 0, (SELECT json_object('name', 's' || i, 'job', json(spec)) FROM "
       "jobs WHERE id = 1), 0, 0, hex(zeroblob(200)) FROM n")
          .c_str());
  {
    Database labels(state() / "labels/labels.db", Database::Access::kReadWrite);
    labels.run(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000) "
        "INSERT INTO labels (name) SELECT printf('label %06d of many', i) FROM n");
  }
  int pages = 0;
  const fs::path socket = server_->socket();
  EXPECT_EQ(length_by_pages(socket, "label.list", "labels", pages), 8000U);
  EXPECT_EQ(length_by_pages(socket, "model.list", "models", pages), 2002U);
  EXPECT_EQ(length_by_pages(socket, "schedule.list", "schedules", pages), 500U);
  EXPECT_EQ(length_by_pages(socket, "system.disk", "versions", pages), 2002U);
  EXPECT_GT(pages, 6);
}

// An imported model may have any number of labels, which its metrics list.
TEST_F(Room, MetricsOfAnySizeAreTold) {
  start();
  import_model(*server_);
  run("UPDATE versions SET metrics = (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "
      "n WHERE i < 2000) SELECT json_object('layers', 3, 'labels', json_group_array("
      "hex(zeroblob(5000)))) FROM n)");  // 20 MB
  EXPECT_EQ(version()["metrics"], Json({{"layers", 3}, {"labels", 2000}}));
  EXPECT_EQ(call("model.list")["models"].size(), 1U);
}

TEST_F(Room, SamplesOfARequestHaveALimit) {
  start();
  const Json sample{{"content", "eA=="}};
  EXPECT_THAT(
      pointers("label.add", {{"labels", {"x"}}, {"samples", std::vector<Json>(10'001, sample)}}),
      ::testing::ElementsAre("/samples"));
}

}  // namespace
}  // namespace moil::daemon::test
