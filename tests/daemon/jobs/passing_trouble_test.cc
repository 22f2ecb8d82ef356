// What lies in the device and passes: it holds the queue, costs no job anything, and is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/daemon/support/server_test.h"

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace moil::daemon::test {
namespace {

constexpr std::int64_t kYears = std::int64_t{365} * 86400 * 1000;

class PassingTrouble : public StartedTest {
 protected:
  // When the test has set the configuration up.
  void serve() {
    start(config_);
    if (!fs::exists(state() / "models/digits")) import_model(*server_);
  }
  void spoil_jobs() const {
    fs::remove(state() / "jobs");
    std::ofstream(state() / "jobs") << "no folder";
  }
  Json status() const { return call("system.status"); }
  // Waits until the queue is held; why.
  std::string held() const {
    Json held;
    EXPECT_TRUE(eventually([&] { return (held = status()["held"]).is_object(); }));
    EXPECT_TRUE(held["since"].is_string());
    return held.value("reason", "");
  }
  // A try may be under way: the job is queued again behind it.
  void expect_untouched(std::int64_t id) const {
    const Json found = wait_for(id, "queued");
    EXPECT_EQ(found["attempts"], 0);
    EXPECT_EQ(found["failures"], 0);
  }
  void expect_done_at_once(std::int64_t id) const {
    const Json done = wait_for(id);
    EXPECT_EQ(done["attempts"], 1);
    EXPECT_EQ(done["failures"], 0);
  }
  void change(const std::string& sql) const {
    Database(state() / "moild.db", Database::Access::kReadWrite).run(sql.c_str());
  }

  fs::path worker_ = folder_ / "worker";
  Config config_ = quick_config();
};

// The worker's program, in a state that a package manager leaves for a moment.
class MissingWorker : public PassingTrouble {
 protected:
  MissingWorker() {
    serve();  // with the program, so that a model can be imported
    server_.reset();
    config_.worker.path = worker_;
  }
  void expect_held_then_done(const std::string& why) {
    serve();
    const auto first = submit("night"), second = submit("night");
    EXPECT_THAT(held(), ::testing::HasSubstr(why));
    std::this_thread::sleep_for(100ms);  // several tries
    expect_untouched(first);
    expect_untouched(second);
    fs::remove(worker_);
    fs::create_symlink(FAKE_WORKER, worker_);
    expect_done_at_once(first);
    expect_done_at_once(second);
    EXPECT_TRUE(status()["held"].is_null());
  }
};

TEST_F(MissingWorker, HoldsTheQueue) { expect_held_then_done("No such file"); }

TEST_F(MissingWorker, MayAlsoBeNotExecutable) {
  std::ofstream(worker_) << "half of a program";
  fs::permissions(worker_, fs::perms::owner_read);
  expect_held_then_done("Permission denied");
}

TEST_F(MissingWorker, MayAlsoMissALibrary) {
  std::ofstream(worker_) << "#!/bin/sh\nexit 127\n";
  fs::permissions(worker_, fs::perms::owner_all);
  expect_held_then_done("did not start");
}

TEST_F(PassingTrouble, AFolderThatCannotBeWrittenHoldsTheQueue) {
  serve();
  spoil_jobs();
  const auto id = submit("night");
  EXPECT_THAT(held(), ::testing::HasSubstr("jobs"));
  expect_untouched(id);
  fs::remove(state() / "jobs");
  expect_done_at_once(id);
}

TEST_F(PassingTrouble, AHeldJobCanBeCancelled) {
  serve();
  spoil_jobs();
  const auto id = submit("night");
  held();
  EXPECT_EQ(call("job.cancel", {{"id", id}})["state"], "cancelled");
}

TEST_F(PassingTrouble, WhatIsWrongWithTheJobItselfEndsItAlone) {
  serve();
  server_->world.minute = 720;
  const auto orphan = submit("night", false);
  change("UPDATE versions SET active = 0");
  server_->world.minute = 180;
  EXPECT_THAT(wait_for(orphan, "failed")["message"], ::testing::HasSubstr("no active version"));
  EXPECT_TRUE(status()["held"].is_null());
}

TEST_F(PassingTrouble, AJobThatHasNotBegunStartsFromWhatIsActiveThen) {
  serve();
  spoil_jobs();
  const auto id = submit("night");
  held();
  import_model(*server_);
  fs::remove(state() / "jobs");
  expect_done_at_once(id);
  EXPECT_NE(job(id)["base_version"], 1);
  const Json models = call("model.list")["models"];
  EXPECT_EQ(models.back()["parent"], job(id)["base_version"]);
}

// --- a full disk ---------------------------------------------------------------------------------

TEST_F(PassingTrouble, AFullDiskPausesTheJobUntilThereIsRoom) {
  config_.worker.backoff_seconds = 1000;
  serve();
  const auto id = submit("no-room");
  EXPECT_THAT(held(), ::testing::HasSubstr("cannot write a checkpoint"));
  const Json paused = job(id);
  EXPECT_EQ(paused["state"], "queued");
  EXPECT_EQ(paused["failures"], 0);
  EXPECT_THAT(paused["message"], ::testing::HasSubstr("waits for room"));
  let_go();
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(job(id)["state"], "queued") << "nothing says that there is room";
  server_->world.free += 64 << 20;
  const Json done = wait_for(id);
  EXPECT_EQ(done["failures"], 0);
  EXPECT_GT(done["result"]["details"]["resumed_from"], 0);
  EXPECT_TRUE(status()["held"].is_null());
}

TEST_F(PassingTrouble, AFullDiskNeverUsesUpTheAttempts) {
  serve();
  const auto id = submit("no-room");
  EXPECT_TRUE(eventually([&] { return job(id)["attempts"] > config_.worker.attempts + 1; }));
  EXPECT_EQ(job(id)["failures"], 0);
}

TEST_F(PassingTrouble, JobsThatNeedLessRoomGoFirst) {
  serve();
  const auto large = submit("no-room"), small = submit("night");
  wait_for(small);
  EXPECT_EQ(job(large)["failures"], 0);
}

TEST_F(PassingTrouble, AJobThatWaitsForRoomCanBeCancelled) {
  config_.worker.backoff_seconds = 1000;
  serve();
  const auto id = submit("no-room");
  held();
  call("job.cancel", {{"id", id}});
  EXPECT_EQ(job(id)["state"], "cancelled");
  EXPECT_TRUE(eventually([&] { return !fs::exists(state() / "jobs" / std::to_string(id)); }));
}

// --- clocks --------------------------------------------------------------------------------------

TEST_F(PassingTrouble, AClockThatOnceShowedAnotherYearDoesNotParkAJob) {
  config_.worker.backoff_seconds = 0.3;
  serve();
  server_->world.clock_ahead = 72 * kYears;
  const auto id = submit("crash-once");
  EXPECT_TRUE(eventually([&] { return job(id)["failures"] == 1; }));
  server_->world.clock_ahead = 0;
  wait_for(id);
}

TEST_F(PassingTrouble, NorDoesOneThatShowedItBeforeARestart) {
  serve();
  server_->world.minute = 720;
  const auto id = submit("night", false);
  server_.reset();
  change("UPDATE jobs SET failures = 1, not_before = 4070908800000");  // 2099
  serve();
  wait_for(id);
}

TEST_F(PassingTrouble, ARetryWaitsAcrossARestart) {
  config_.worker.backoff_seconds = 1000;
  serve();
  server_->world.minute = 720;
  const auto id = submit("night", false);
  server_.reset();
  change("UPDATE jobs SET failures = 1, not_before = " +
         std::to_string(now_milliseconds() + 500'000));
  serve();
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(job(id)["state"], "queued");
  server_->world.steady_ahead = 400'000;
  std::this_thread::sleep_for(60ms);
  EXPECT_EQ(job(id)["state"], "queued");
  server_->world.steady_ahead = 510'000;
  wait_for(id);
}

// --- a device that is never as it should be ------------------------------------------------------

TEST_F(PassingTrouble, StatusSaysWhatHasBeenWaitedFor) {
  serve();
  server_->world.load = 0.55;
  const auto id = submit("night", false);
  Json waited;
  EXPECT_TRUE(eventually([&] {
    waited = status()["window"]["waited"];
    return !waited.empty() && waited[0]["seconds"] > 0.1;
  }));
  EXPECT_EQ(waited[0]["for"], "load");
  EXPECT_EQ(waited[0]["nearest"], 0.55);
  EXPECT_EQ(waited[0]["allowed"], 0.5);
  server_->world.load = 0.1;
  wait_for(id);
  EXPECT_TRUE(status()["window"]["waited"].empty());
}

}  // namespace
}  // namespace moil::daemon::test
