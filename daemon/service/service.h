// moild without its main(): everything the daemon is made of, in the order it depends on each
// other. Construction recovers what a crash left behind and begins to listen; run the loop to
// serve.
//
// Loop thread only, but for `layout` and `config`, which all use, and for the label store: the
// background thread writes it, the reading thread and the loop have views of their own, so that
// neither waits for another's transaction.
#pragma once

#include <filesystem>
#include <functional>

#include "daemon/config/config.h"
#include "daemon/jobs/recurring.h"
#include "daemon/jobs/scheduler.h"
#include "daemon/loop/background.h"
#include "daemon/loop/event_loop.h"
#include "daemon/loop/outside_calls.h"
#include "daemon/rpc/dispatcher.h"
#include "daemon/rpc/server.h"
#include "daemon/metrics/counts.h"
#include "daemon/metrics/metrics_file.h"
#include "daemon/service/watchers.h"
#include "daemon/state/disk_reserve.h"
#include "daemon/state/flusher.h"
#include "daemon/state/job_store.h"
#include "daemon/state/lock_file.h"
#include "daemon/state/model_store.h"
#include "daemon/state/schedule_store.h"
#include "daemon/state/state_folder.h"
#include "daemon/upkeep/canary.h"
#include "daemon/upkeep/forgetting.h"
#include "daemon/upkeep/housekeeping.h"
#include "daemon/upkeep/idle_memory.h"
#include "daemon/workers/importer.h"
#include "daemon/workers/job_planner.h"
#include "daemon/workers/predictor.h"
#include "daemon/workers/previewer.h"
#include "daemon/workers/worker_command.h"
#include "datasets/labels/label_store.h"

namespace moil::daemon {

class Service {
 public:
  // What stands before the service: its methods, and its figures as text.
  struct Faces {
    std::function<MethodTable(Service&)> methods;
    std::function<void(Service&, std::function<void(std::string)> done)> metrics;
  };
  // kAlreadyExists: a second daemon on this state (or this socket).
  Service(EventLoop& loop, const Config& config, const std::filesystem::path& state,
          const std::filesystem::path& socket, const World& world, const Faces& faces);

  // Stops the worker (which checkpoints), then calls `done`.
  void shut_down(std::function<void()> done);
  // Removes what was thrown away (state/trash.h), then answers.
  void empty_trash(const Responder& responder, Json reply);
  // One line for people: "job 7 runs, 2 wait".
  std::string status() const;

  const Config config;
  EventLoop& loop;
  const World& world;
  const std::int64_t started_at;  // by the steady clock
  const std::int64_t started_on;  // by the wall clock then, milliseconds since 1970
  Counts counts;
  const StateFolder folder;
  const StateLayout& layout;
  const LockFile lock;
  DiskReserve reserve;
  Database database;
  Flusher flusher;
  ModelStore models;
  JobStore jobs;
  ScheduleStore schedules;
  data::LabelStore labels;
  const data::LabelStore label_reader;  // of the reading thread
  const data::LabelStore label_view;    // of the loop
  Forgetting forgetting;
  Watchers watchers;
  const WorkerCommand command;
  UserTurns worker_turns;
  WorkerCalls worker_calls;
  Importer importer;
  JobPlanner planner;
  Predictor predictor;
  Previewer previewer;
  Scheduler scheduler;
  Recurring recurring;
  Housekeeping housekeeping;
  CanaryWatch canaries;
  const Limits limits;
  const MethodTable methods;
  const Access access;
  Dispatcher dispatcher;
  Server server;
  IdleMemory idle_memory;
  // Last, so that they end first: what they do uses what stands above.
  OutsideCalls outside;
  Background reading;
  Background background;
  MetricsFile metrics_file;

 private:
  void job_changed(std::int64_t job);
  void record_samples(std::function<void()> record);
};

}  // namespace moil::daemon
