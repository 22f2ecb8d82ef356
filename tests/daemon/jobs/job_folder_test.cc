// What is left of a job on the disk when it has ended: its checkpoints are weights and samples of
// its owner's.
#include "daemon/jobs/job_folder.h"

#include "base/files/file.h"
#include "base/json/json.h"
#include "daemon/spec/worker_protocol.h"
#include "tests/daemon/support/server_test.h"
#include "tests/daemon/support/stores.h"

namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

class JobFolders : public StoresTest {
 protected:
  std::int64_t with_checkpoint() {
    const std::int64_t id = running();
    fs::create_directories(layout_.job(id));
    write_file_atomic(layout_.job(id) / "train.checkpoint", std::string_view("weights"));
    return id;
  }
  // Whether its folder goes.
  bool goes(std::int64_t id) {
    Flusher flusher(loop_, database_, layout_.database());
    JobFolder(layout_, jobs_, flusher).settle(jobs_.get(id));
    bool told = false;
    flusher.then([&](const std::exception_ptr&) {
      told = true;
      loop_.stop();
    });
    if (!told) loop_.run();
    return !fs::exists(layout_.job(id));
  }

  EventLoop loop_;
};

TEST_F(JobFolders, AnEndLeavesNoCheckpoint) {
  const auto cancelled = with_checkpoint(), promoted = with_checkpoint(),
             rejected = with_checkpoint();
  jobs_.end(cancelled, JobState::kCancelled, "cancelled");
  jobs_.finish(promoted, {{"promoted", true}});
  jobs_.finish(rejected, {{"promoted", false}});
  for (const auto id : {cancelled, promoted, rejected})
    EXPECT_TRUE(goes(id)) << to_string(jobs_.get(id).state);
}

TEST_F(JobFolders, WhatMayGoOnKeepsItsCheckpoint) {
  const auto failed = with_checkpoint(), paused = with_checkpoint();
  jobs_.end(failed, JobState::kFailed, "it failed");
  jobs_.pause(paused, "the window closed");
  for (const auto id : {failed, paused}) EXPECT_FALSE(goes(id)) << to_string(jobs_.get(id).state);
}

// Its description names train.sampling, which is no more.
TEST_F(JobFolders, AnAttemptOfAnEarlierBuildIsGoneOnWith) {
  const auto id = with_checkpoint();
  const fs::path checkpoint = layout_.job(id) / "train.checkpoint";
  jobs_.pause(id, "the window closed");
  const JobFile file = jobs_.prepare(id);
  Json earlier = to_json(file);
  earlier["threads"] = 7;
  earlier["spec"]["train"]["sampling"] = "importance";
  const auto prepare = [&] {
    write_file_atomic(layout_.job_file(id), std::string_view(earlier.dump()));
    Flusher flusher(loop_, database_, layout_.database());
    JobFolder(layout_, jobs_, flusher).prepare(jobs_.get(id), file);
  };
  prepare();
  ASSERT_TRUE(fs::exists(layout_.job_file(id)));
  const JobFile kept = job_file_from_json(parsed_json(read_text(layout_.job_file(id))));
  EXPECT_EQ(kept.spec, file.spec);
  EXPECT_EQ(kept.threads, 7) << "as the attempt before";
  EXPECT_TRUE(fs::exists(checkpoint));
  earlier["base_version"] = file.base_version + 1;
  earlier["version"] = file.version + 1;
  prepare();
  EXPECT_FALSE(fs::exists(checkpoint)) << "made from another version";
}

class JobEnds : public StartedTest {};

// The daemon died between a cancellation and the worker's end.
TEST_F(JobEnds, ARestartLeavesNothingOfAJobThatWasBeingCancelled) {
  start();
  import_model(*server_);
  const auto id = submit("slow", false);
  wait_for_training(id);
  server_.reset();
  ASSERT_TRUE(fs::exists(state() / "jobs" / std::to_string(id) / "place"));
  {
    Database database(state() / "moild.db", Database::Access::kReadWrite);
    database.run("UPDATE jobs SET state = 'running', cancelling = 1");
  }
  start();
  wait_for(id, "cancelled");
  EXPECT_TRUE(eventually([&] { return !fs::exists(state() / "jobs" / std::to_string(id)); }));
  EXPECT_EQ(call("model.list")["models"].size(), 1U);
}

}  // namespace
}  // namespace moil::daemon::test
