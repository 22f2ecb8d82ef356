// A job's life: submitted, run, watched, killed, resumed, cancelled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <set>

#include "base/files/file.h"
#include "daemon/process/cpu_limit.h"
#include "daemon/upkeep/cache_access.h"
#include "tests/daemon/support/server_test.h"

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace moil::daemon::test {
namespace {

class Jobs : public ServerTest {
 protected:
  Jobs() { import_model(server_); }
  Json active_version() const { return version()["version"]; }
};

TEST_F(Jobs, ANightPromotesANewVersion) {
  const auto id = submit("night");
  const Json job = wait_for(id);
  EXPECT_EQ(job["result"]["local_after"], 0.98);
  EXPECT_EQ(job["attempts"], 1);
  EXPECT_EQ(job["base_version"], 1);
  EXPECT_EQ(job["version"], 2);
  EXPECT_EQ(active_version(), 2);
  EXPECT_TRUE(eventually([&] { return !fs::exists(state() / "jobs" / std::to_string(id)); }));
}

TEST_F(Jobs, AJobThatNamesNoModelOrPackIsRefusedWithBoth) {
  Json job = job_named("night", "/nowhere/pack");
  job["model"] = "unheard-of";
  EXPECT_EQ(ask("job.submit", {{"job", job}})["error"]["code"], kInvalidParams);
  EXPECT_THAT(pointers("job.submit", {{"job", job}}),
              ElementsAre("/job/model", "/job/global/pack"));
  EXPECT_TRUE(call("job.list")["jobs"].empty());
}

// What finished long ago: copies of job 1 with results of 40 kB.
void add_finished_jobs(const fs::path& state, int count) {
  Database database(state / "moild.db", Database::Access::kReadWrite);
  database.run(("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                std::to_string(count) +
                ") INSERT INTO jobs (name, model, spec, state, ignore_window, submitted_at, "
                "result, summary) SELECT name, model, spec, 'failed', 0, 0, "
                "json_object('promoted', json('false'), 'details', hex(zeroblob(20000))), "
                "json_object('promoted', json('false')) FROM jobs, n WHERE jobs.id = 1")
                   .c_str());
}

TEST_F(Jobs, AListOfAnyLengthComesInPages) {
  run_job("night");
  add_finished_jobs(state(), 150);
  for (const bool details : {false, true}) {
    Json params = {{"limit", 1000}, {"details", details}};
    std::vector<int> ids;
    int pages = 0;
    for (Json next = Json::object(); next.is_object(); ++pages) {
      params.update(next);
      const Json reply = call("job.list", params);
      for (const Json& job : reply["jobs"]) {
        ids.push_back(job["id"]);
        ASSERT_EQ(job["result"].contains("details"), details);
      }
      next = reply["next"];
    }
    EXPECT_EQ(ids.size(), 151U);
    EXPECT_EQ(ids.back(), 1);
    EXPECT_TRUE(std::is_sorted(ids.rbegin(), ids.rend()));
    EXPECT_GT(pages, details ? 20 : 0);
  }
  EXPECT_EQ(call("job.get", {{"id", 150}, {"details", false}})["job"]["result"],
            Json({{"promoted", false}}));
}

TEST_F(Jobs, EveryEventOfALongJobIsTold) {
  run_job("night");
  const auto seq_of = [](const Json& event) { return event["seq"].get<int>(); };
  Json first = call("job.get", {{"id", 1}});
  EXPECT_TRUE(first["next"].is_null());
  const int known = seq_of(first["events"].back());
  {
    Database database(state() / "moild.db", Database::Access::kReadWrite);
    database.run(("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
                  "INSERT INTO events (job, seq, at, body) SELECT 1, i + " +
                  std::to_string(known) +
                  ", 0, json_object('event', 'note', 'message', hex(zeroblob(100))) FROM n")
                     .c_str());
  }
  Line watcher(socket());
  watcher.send(request_line("job.watch", {{"id", 1}}));
  const Json begin = watcher.read()["result"];
  int last = seq_of(begin["events"].back());
  EXPECT_LT(last, known + 5000);
  while (last < known + 5000) {
    const Json message = watcher.read();
    ASSERT_EQ(message.value("method", ""), "job.event");
    ASSERT_EQ(seq_of(message["params"]), last + 1);
    ++last;
  }
  const Json rest = call("job.get", {{"id", 1}, {"since", last - 3}});
  EXPECT_EQ(rest["events"].size(), 3U);
}

TEST_F(Jobs, WhatCannotBePlannedIsRefusedAtTheField) {
  const Json job = job_named("unfit", socket());
  for (const char* method : {"job.submit", "job.plan"}) {
    const Json params = {{"job", job}};
    EXPECT_THAT(pointers(method, params), ElementsAre("/job/memory/budget_bytes")) << method;
    EXPECT_THAT(complaint(method, params),
                HasSubstr("the night needs 2000 bytes; 1000 are allowed"));
  }
  EXPECT_TRUE(call("job.list")["jobs"].empty());
}

TEST_F(Jobs, APlanKnowsTheMethodsOfASelection) {
  const Json job = job_named("night", socket());
  for (const char* method : {"auto", "gpu", ""}) {
    EXPECT_THAT(pointers("job.plan", {{"job", job}, {"processors", method}}),
                ElementsAre("/processors"))
        << method;
  }
  EXPECT_THAT(complaint("job.plan", {{"job", job}, {"processors", "quantum"}}),
              HasSubstr("known: cpu, opencl, step_wise, layer_wise, path"));
  const Json plan = call("job.plan", {{"job", job}, {"processors", "layer_wise"}});
  EXPECT_EQ(plan["processors"]["method"], "layer_wise");
}

// That no worker can tell is no fault of the job: the night will.
TEST_F(Jobs, WhatNobodyCanPlanIsQueued) { run_job("no-plan"); }

TEST_F(Jobs, ManySubmissionsAtOnceAreAllChecked) {
  server_.world.minute = 720;
  Line client(socket());
  for (int i = 1; i <= 12; ++i) {
    const Json job = job_named("night " + std::to_string(i), socket());
    client.send(request_line("job.submit", {{"job", job}}, i));
  }
  std::set<int> ids;
  for (int i = 1; i <= 12; ++i) ids.insert(client.read()["result"]["id"].get<int>());
  EXPECT_EQ(ids.size(), 12U);
}

TEST_F(Jobs, ThreadsAreTheJobs) {
  Json job = job_named("night", socket());
  job["threads"] = 3;
  wait_for(call("job.submit", {{"job", job}, {"now", true}})["id"], "succeeded");
  const auto version = state() / "models/digits/2/model.json";
  EXPECT_EQ(parsed_json(read_text(version))["threads"], 3);
}

TEST_F(Jobs, TheGuardKeepsTheOldModel) {
  const auto id = submit("reject");
  const Json job = wait_for(id, "rejected-by-guard");
  EXPECT_EQ(job["message"], "global accuracy lost");
  EXPECT_EQ(active_version(), 1);
}

TEST_F(Jobs, ActivateFalseRecordsOnly) {
  Json job = job_named("night", socket());
  job["activate"] = false;
  const auto id = call("job.submit", {{"job", job}, {"now", true}})["id"];
  wait_for(id);
  EXPECT_EQ(active_version(), 1);
  EXPECT_EQ(call("model.list")["models"].size(), 2U);
}

TEST_F(Jobs, AWorkerThatDiesIsResumedFromItsCheckpoint) {
  const auto id = submit("crash-once");
  const Json job = wait_for(id);
  EXPECT_EQ(job["attempts"], 2);
  EXPECT_EQ(job["failures"], 1);
  EXPECT_EQ(job["result"]["details"]["resumed_from"], 13);
}

// As a library does in a damaged file: the next attempt does not trust the cache (night_job.h).
TEST_F(Jobs, TheNextAttemptKnowsThatAWorkerCrashed) {
  const Json crashed = run_job("segfault");
  EXPECT_EQ(crashed["attempts"], 2);
  EXPECT_EQ(crashed["result"]["details"]["crashed_before"], true);
  const Json killed = run_job("crash-once");
  EXPECT_EQ(killed["result"]["details"]["crashed_before"], false);
}

TEST_F(Jobs, AWorkerThatKeepsDyingFailsTheJob) {
  const auto id = submit("crash");
  const Json job = wait_for(id, "failed");
  EXPECT_EQ(job["failures"], 2);  // the third is the end
  EXPECT_EQ(job["attempts"], 3);
  EXPECT_THAT(job["message"], HasSubstr("signal 9 (Killed) in stage train"));
}

TEST_F(Jobs, FinalErrorsAreNotRetried) {
  const auto id = submit("bad-data");
  const Json job = wait_for(id, "failed");
  EXPECT_EQ(job["attempts"], 1);
  EXPECT_EQ(job["message"], "sample 3 is not an image");
}

TEST_F(Jobs, AVersionThatWasNotWrittenFailsTheJob) {
  const auto id = submit("no-folder");
  const Json job = wait_for(id, "failed");
  EXPECT_EQ(job["attempts"], 3);
  EXPECT_THAT(job["message"], HasSubstr("given up after 3 attempts"));
  EXPECT_EQ(active_version(), 1);
}

TEST_F(Jobs, GarbageFromTheWorkerIsOnlyLogged) { run_job("garbage"); }

// 400 intervals of 200 tensors are several MiB: more than a line, or a reply, may be.
TEST_F(Jobs, ALongResultIsKeptAndReadInParts) {
  const auto id = submit("long");
  const Json job = wait_for(id);
  EXPECT_EQ(job["attempts"], 1);
  EXPECT_LT(job["result"].dump().size(), 100'000U);
  const std::string list = "/details/elastic/intervals";
  EXPECT_EQ(job["result"]["lists"][list], 400);
  EXPECT_EQ(job["result"]["details"]["elastic"]["rho"], 0.5);
  std::vector<Json> epochs, all;
  int parts = 0;
  for (Json from = 0; from.is_number(); ++parts) {
    const Json part = call("job.details", {{"id", id}, {"list", list}, {"from", from}});
    EXPECT_EQ(part["count"], 400);
    EXPECT_LT(part.dump().size(), 1'200'000U);
    for (const Json& item : part["items"]) epochs.push_back(item["epoch"]);
    from = part["next"];
  }
  EXPECT_GT(parts, 1);
  for (int epoch = 0; epoch < 400; ++epoch) all.push_back(epoch);
  EXPECT_EQ(epochs, all);
}

TEST_F(Jobs, ALongLineCostsTheWorkerNothing) {
  const auto id = submit("wordy");
  EXPECT_EQ(wait_for(id)["attempts"], 1);
  std::vector<std::string> notes;
  const Json reply = call("job.get", {{"id", id}});
  for (const Json& event : reply["events"]) {
    if (event["event"]["event"] == "note") notes.push_back(event["event"]["message"]);
  }
  ASSERT_EQ(notes.size(), 2U);  // the line that a worker must not write is skipped
  EXPECT_EQ(notes[0].size(), kMostTextBytes + 3);
  EXPECT_EQ(notes[1], "and one of few");
}

TEST_F(Jobs, AWorkerThatDiesWhenItsResultIsThereHasDoneItsJob) {
  const auto id = submit("dies-done");
  const Json job = wait_for(id);
  EXPECT_EQ(job["attempts"], 1);
  EXPECT_EQ(active_version(), 2);
}

TEST_F(Jobs, AJobThatFailedKeepsItsFilesAndIsTriedAgain) {
  const auto id = submit("crash-thrice");
  const Json failed = wait_for(id, "failed");
  EXPECT_THAT(failed["message"], HasSubstr("given up after 3 attempts"));
  EXPECT_TRUE(fs::exists(state() / "jobs" / std::to_string(id) / "place"));
  EXPECT_FALSE(fs::exists(state() / "models/digits/.incoming-2"));
  EXPECT_EQ(call("job.retry", {{"id", id}}), (Json{{"id", id}, {"state", "queued"}}));
  const Json done = wait_for(id);
  EXPECT_EQ(done["attempts"], 4);
  EXPECT_EQ(done["failures"], 0);
  EXPECT_EQ(done["result"]["details"]["resumed_from"], 15) << "where it had come to";
  EXPECT_EQ(active_version(), done["version"]);
}

TEST_F(Jobs, WhatWasMadeOfAnotherModelIsNotResumed) {
  const auto failed = submit("crash-thrice");
  wait_for(failed, "failed");
  run_job("night");
  call("job.retry", {{"id", failed}});
  const Json done = wait_for(failed, "failed");
  EXPECT_EQ(done["base_version"], active_version());
  EXPECT_EQ(done["attempts"], 6) << "it began anew";
}

// However another version comes into service: what the night has made so far is of the one before.
TEST_F(Jobs, ANightStopsWhenAnotherVersionIsPutInService) {
  run_job("night");
  const std::vector<std::function<void()>> ways = {
      [&] {
        call("model.activate", {{"model", "digits"}, {"version", 1}});
      },
      [&] { import_model(server_); },
      [&] {
        call("model.rollback", {{"model", "digits"}});
      },
  };
  for (std::size_t way = 0; way < ways.size(); ++way) {
    SCOPED_TRACE(way);
    const auto id = submit("slow");
    wait_for_training(id);
    ways[way]();
    EXPECT_TRUE(eventually([&] { return job(id)["base_version"] == active_version(); }))
        << "it goes on with the model before";
    let_go();
    const Json done = wait_for(id);
    EXPECT_EQ(done["attempts"], 2);
    EXPECT_EQ(done["failures"], 0);
    EXPECT_EQ(version()["version"], done["version"]);
    EXPECT_EQ(version()["parent"], done["base_version"]);
    fs::remove(state() / "go");
  }
}

TEST_F(Jobs, APausedNightIsHeldAgainstTheAnchorThatThereIsNow) {
  run_job("night");
  const auto id = submit("slow", false);
  wait_for_training(id);
  server_.world.minute = 720;
  wait_for(id, "queued");
  const auto anchor = [&] {
    const auto file = state() / "jobs" / std::to_string(id) / "job.json";
    return parsed_json(read_text(file))["anchor_version"];
  };
  EXPECT_EQ(anchor(), 1);
  call("model.anchor", {{"model", "digits"}, {"version", 2}});
  server_.world.minute = 180;
  wait_for_training(id);
  EXPECT_EQ(anchor(), 2);
  let_go();
  EXPECT_EQ(wait_for(id)["attempts"], 2);
}

TEST_F(Jobs, CollectingKeepsTheMapsOfNightsThatGoOn) {
  const auto id = submit("slow", false);
  wait_for_training(id);
  server_.world.minute = 720;
  wait_for(id, "queued");
  const StateLayout layout(state());
  const cache::ModelId paused = cache::model_id("paused", ""), old = cache::model_id("old", "");
  write_file_atomic(layout.job_maps(id), "no id\n" + cache::to_hex(paused) + "\n");
  {
    auto maps = open_cache(layout, 0);
    const std::vector<float> features = {1, 2, 3};
    for (const cache::ModelId& model : {paused, old}) {
      maps.use_model(model, cache::to_hex(model));
      maps.put({model, cache::SampleDigest{}}, features);
    }
  }
  EXPECT_EQ(call("cache.gc")["removed_entries"], 1);
  const Json left = call("cache.stats")["models"];
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0]["id"], cache::to_hex(paused));
  EXPECT_EQ(call("cache.gc", {{"all", true}})["removed_entries"], 1);
  EXPECT_FALSE(std::filesystem::exists(layout.cache()));
  EXPECT_EQ(call("cache.stats")["entries"], 0);
}

TEST_F(Jobs, OnlyWhatFailedOrWasCancelledIsTriedAgain) {
  const auto done = submit("night");
  wait_for(done);
  const Json reply = ask("job.retry", {{"id", done}});
  EXPECT_EQ(reply["error"]["data"]["code"], "failed_precondition");
  EXPECT_EQ(error_of("job.retry", {{"id", 77}}), "not_found");
  server_.world.minute = 720;
  const auto id = submit("night", false);
  call("job.cancel", {{"id", id}});
  call("job.retry", {{"id", id}});
  server_.world.minute = 180;
  wait_for(id);
}

TEST_F(Jobs, AWarmDeviceGoesOnWithFewerCpus) {
  if (usable_cpus() < 2) GTEST_SKIP() << "this machine has one CPU";
  const auto id = submit("slow", false);
  wait_for(id, "running");
  server_.world.temperature = 70;
  const auto used = [&] {
    const Json cpus = call("system.status")["cpus"];
    return cpus.is_object() ? cpus["used"].get<int>() : 0;
  };
  EXPECT_TRUE(eventually([&] { return used() == usable_cpus() / 2; }));
  const Json events = call("job.get", {{"id", id}})["events"];
  EXPECT_THAT(events.dump(), HasSubstr("the device is at 70 C"));
  server_.world.temperature = 50;
  server_.world.steady_ahead += 60'000;
  EXPECT_TRUE(eventually([&] { return used() == usable_cpus(); }));
  call("job.cancel", {{"id", id}});
  wait_for(id, "cancelled");
  EXPECT_TRUE(call("system.status")["cpus"].is_null());
}

TEST_F(Jobs, CancelARunningJob) {
  const auto id = submit("slow");
  wait_for_training(id);
  EXPECT_EQ(call("job.cancel", {{"id", id}})["cancelling"], true);
  wait_for(id, "cancelled");
  EXPECT_EQ(active_version(), 1);
  EXPECT_EQ(error_of("job.cancel", {{"id", id}}), "failed_precondition");
}

TEST_F(Jobs, AWorkerThatIgnoresTheStopIsKilled) {
  const auto id = submit("deaf");
  wait_for_training(id);
  call("job.cancel", {{"id", id}});
  wait_for(id, "cancelled");
}

TEST_F(Jobs, CancelAQueuedJob) {
  server_.world.minute = 720;
  const auto id = submit("night", false);
  EXPECT_EQ(call("job.cancel", {{"id", id}})["state"], "cancelled");
}

TEST_F(Jobs, OneWorkerAtATime) {
  const auto first = submit("slow");
  wait_for_training(first);
  const auto second = submit("night");
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(job(second)["state"], "queued");
  let_go();
  wait_for(second);
  EXPECT_EQ(active_version(), 3);
}

TEST_F(Jobs, AWatcherSeesEveryStoredEventOnceAndInOrder) {
  Line client(socket());
  const auto id = submit("slow");
  client.send(request_line("job.watch", {{"id", id}}));
  const Json reply = client.read()["result"];
  std::vector<std::int64_t> seen;
  for (const Json& event : reply["events"]) seen.push_back(event["seq"]);
  wait_for_training(id);
  let_go();
  int positions = 0;
  std::string state;
  while (state != "succeeded") {
    const Json message = client.read();
    ASSERT_EQ(message["method"], "job.event");
    ASSERT_FALSE(message.contains("id"));
    const Json& params = message["params"];
    EXPECT_EQ(params["job"], id);
    if (params.contains("seq")) seen.push_back(params["seq"]);
    if (params["event"]["event"] == "progress") ++positions;
    if (params["event"]["event"] == "state") state = params["event"]["state"];
  }
  const Json stored = call("job.get", {{"id", id}})["events"];
  ASSERT_EQ(seen.size(), stored.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i], static_cast<std::int64_t>(i + 1));
  }
  EXPECT_GT(positions, 0);
}

TEST_F(Jobs, WatchingAFinishedJobTellsAllAtOnce) {
  const auto id = submit("night");
  wait_for(id);
  const Json reply = call("job.watch", {{"id", id}});
  EXPECT_EQ(reply["job"]["state"], "succeeded");
  std::vector<std::string> kinds;
  for (const Json& event : reply["events"]) kinds.push_back(event["event"]["event"]);
  EXPECT_THAT(kinds, ElementsAre("state", "state", "stage", "stage", "curve", "curve", "state"));
  const Json later = call("job.watch", {{"id", id}, {"since", 5}});
  EXPECT_EQ(later["events"].size(), 2U);
}

TEST_F(Jobs, AnUnknownJob) {
  for (const char* method : {"job.get", "job.cancel", "job.watch"}) {
    EXPECT_EQ(error_of(method, {{"id", 99}}), "not_found");
  }
}

TEST_F(Jobs, TheWindowHoldsJobsBackButForThoseThatAreToRunNow) {
  server_.world.minute = 720;
  const auto id = submit("night", false);
  std::this_thread::sleep_for(150ms);
  EXPECT_EQ(job(id)["state"], "queued");
  EXPECT_EQ(call("system.status")["window"]["reason"], "outside the window 01:00-06:00");
  run_job("night");
  server_.world.minute = 60;
  wait_for(id);
}

TEST_F(Jobs, ConditionsHoldJobsBack) {
  server_.world.on_mains = false;
  const auto id = submit("night", false);
  std::this_thread::sleep_for(150ms);
  EXPECT_EQ(job(id)["state"], "queued");
  server_.world.on_mains = true;
  wait_for(id);
}

TEST_F(Jobs, WhenTheWindowClosesTheJobWaitsForTheNextNightAndResumes) {
  const auto id = submit("slow", false);
  wait_for_training(id);
  server_.world.minute = 360;
  Json job = wait_for(id, "queued");
  EXPECT_EQ(job["message"], "outside the window 01:00-06:00");
  EXPECT_EQ(job["failures"], 0);
  let_go();
  server_.world.minute = 100;
  job = wait_for(id);
  EXPECT_EQ(job["failures"], 0);
  EXPECT_GT(job["result"]["details"]["resumed_from"], 0);
}

}  // namespace
}  // namespace moil::daemon::test
