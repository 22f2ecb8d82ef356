// moild without its main(): everything the daemon is made of, in the order it depends on each
// other. Construction recovers what a crash left behind and begins to listen; run the loop to
// serve.
//
// Loop thread only, but for the layout and the configuration, which all use, and for the label
// store: the background thread writes it, the reading thread and the loop have views of their own,
// so that neither waits for another's transaction.
#pragma once

#include <filesystem>
#include <functional>

#include "daemon/config/config.h"
#include "daemon/doctor/doctor.h"
#include "daemon/jobs/job_intake.h"
#include "daemon/jobs/night_view.h"
#include "daemon/jobs/recurring.h"
#include "daemon/jobs/scheduler.h"
#include "daemon/loop/background.h"
#include "daemon/loop/event_loop.h"
#include "daemon/loop/outside_calls.h"
#include "daemon/metrics/counts.h"
#include "daemon/metrics/metrics.h"
#include "daemon/metrics/metrics_file.h"
#include "daemon/rpc/dispatcher.h"
#include "daemon/rpc/server.h"
#include "daemon/service/parts.h"
#include "daemon/service/watchers.h"
#include "daemon/state/disk_reserve.h"
#include "daemon/state/flusher.h"
#include "daemon/state/job_store.h"
#include "daemon/state/lock_file.h"
#include "daemon/state/model_store.h"
#include "daemon/state/schedule_store.h"
#include "daemon/state/state_folder.h"
#include "daemon/upkeep/backups.h"
#include "daemon/upkeep/canary.h"
#include "daemon/upkeep/forgetting.h"
#include "daemon/upkeep/housekeeping.h"
#include "daemon/upkeep/idle_memory.h"
#include "daemon/workers/importer.h"
#include "daemon/workers/job_planner.h"
#include "daemon/workers/predictor.h"
#include "daemon/workers/previewer.h"
#include "daemon/workers/studies.h"
#include "daemon/workers/trials.h"
#include "daemon/workers/worker_command.h"
#include "datasets/labels/label_store.h"

namespace moil::daemon {

class Service {
 public:
  // Its methods, made of the parts that they take.
  using Methods = std::function<MethodTable(const Parts&)>;
  // kAlreadyExists: a second daemon on this state (or this socket).
  Service(EventLoop& loop, const Config& config, const std::filesystem::path& state,
          const std::filesystem::path& socket, const World& world, const Methods& methods);

  // Stops the worker (which checkpoints), then calls `done`.
  void shut_down(std::function<void()> done);
  // Called when a backup is to be put in place of the state, which a new service does.
  void when_restored(std::function<void()> restored) { restored_ = std::move(restored); }
  // One line for people: "job 7 runs, 2 wait".
  std::string status() const;
  const std::filesystem::path& state() const { return layout_.root(); }

 private:
  void job_changed(std::int64_t job);
  void record_samples(std::function<void()> record);

  const Config config_;
  EventLoop& loop_;
  const World& world_;
  Counts counts_;
  const StateFolder folder_;
  const StateLayout& layout_;
  const LockFile lock_;
  DiskReserve reserve_;
  Database database_;
  Flusher flusher_;
  ModelStore models_;
  JobStore jobs_;
  ScheduleStore schedules_;
  data::LabelStore labels_;
  const data::LabelStore label_reader_;  // of the reading thread
  const data::LabelStore label_view_;    // of the loop
  Forgetting forgetting_;
  Watchers watchers_;
  const WorkerCommand command_;
  UserTurns worker_turns_;
  WorkerCalls worker_calls_;
  Importer importer_;
  JobPlanner planner_;
  Studies studies_;
  Predictor predictor_;
  Previewer previewer_;
  Trials trials_;
  Scheduler scheduler_;
  const JobIntake intake_;
  Recurring recurring_;
  const NightView nights_;
  Housekeeping housekeeping_;
  std::function<void()> restored_;
  Backups backups_;
  CanaryWatch canaries_;
  const Examined examined_;
  const Measured measured_;
  const Limits limits_;
  const Parts parts_;
  const MethodTable methods_;
  const Access access_;
  Dispatcher dispatcher_;
  Server server_;
  IdleMemory idle_memory_;
  // Last, so that they end first: what they do uses what stands above.
  OutsideCalls outside_;
  Background reading_;
  Background background_;
  MetricsFile metrics_file_;
};

}  // namespace moil::daemon
