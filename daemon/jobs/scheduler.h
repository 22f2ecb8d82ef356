// Starts queued jobs, one worker at a time: at once if a job was submitted with now, otherwise
// in the window and while the device's conditions hold. Stops what runs when they no longer do.
//
// What a worker's end means is settlement.h's to say: the next attempt waits (job_delays.h) and
// resumes from the checkpoint; what lies in the device and passes, such as a worker that cannot be
// started or a full disk, holds the queue (queue_hold.h). If the end of a job cannot be
// recorded, that is tried again until it can. While the device is warm, a job goes on with fewer
// CPUs (heat.h). Loop thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/config/config.h"
#include "daemon/jobs/job_delays.h"
#include "daemon/jobs/job_folder.h"
#include "daemon/jobs/job_runner.h"
#include "daemon/jobs/queue_hold.h"
#include "daemon/jobs/settlement.h"
#include "daemon/schedule/heat.h"
#include "daemon/schedule/wait_log.h"
#include "daemon/state/disk_reserve.h"
#include "daemon/state/job_store.h"
#include "datasets/labels/label_store.h"

namespace moil::daemon {

class Scheduler {
 public:
  // Called after a job changed (its events say how), and with a running job's latest position.
  struct Listener {
    std::function<void(std::int64_t job)> changed;
    std::function<void(std::int64_t job, const Json& progress)> progress;
    std::function<void(std::vector<data::SampleLikeness>)> likenesses;
    std::function<void(std::vector<data::Digest>)> uses;
    std::function<void(const Outcome&)> worker_ended;
    std::function<void(std::int64_t job)> finished;  // a worker's job, for good
  };

  Scheduler(EventLoop& loop, const Config& config, const WorkerCommand& command,
            const StateLayout& layout, const World& world, JobStore& jobs,
            const data::LabelStore& labels, DiskReserve& reserve, Flusher& flusher,
            Listener listener);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // After a restart: records the results of jobs that were done when the daemon ended.
  void settle_found() { settlement_.settle_found(); }
  // Looks at the queue and the conditions soon; called by itself every poll_seconds.
  void wake();
  // Ends a queued job at once, a running one when its worker is gone. kFailedPrecondition if
  // the job is finished already.
  void cancel(std::int64_t job);
  // Queues a job again that failed or was cancelled; it resumes if that is possible
  // (job_folder.h). kFailedPrecondition if it did neither.
  void retry(std::int64_t job);
  // What these unfinished jobs have made so far is dropped, for it has to do with samples that were
  // forgotten; a running one is stopped for that. Calls `done` when nothing is left of it.
  void begin_anew(std::span<const std::int64_t> jobs, std::function<void()> done);
  // Another version was put in service by a person or a canary: the running job is stopped if it
  // began with the one before, and begins anew.
  void bases_changed();
  // Starts nothing more, stops the worker and calls `done` when it is gone.
  void shut_down(std::function<void()> done);

  std::optional<std::int64_t> running() const;
  Json progress(std::int64_t job) const;               // the latest, or null
  Verdict verdict() const;                             // whether a job may run in the window now
  Verdict verdict(const DeviceReading& device) const;  // the same of what was just read
  // Why nothing is started although a job could be; empty if nothing is the matter.
  std::optional<QueueHold::Told> held() const;
  struct Cpus {
    int used = 0, all = 0;
  };
  // The running job's; empty if none runs.
  std::optional<Cpus> cpus() const;
  // Nights that have gone by without a job that waited in them getting a start.
  const LostNights& lost_nights() const { return waits_.lost(); }
  // What jobs have waited for tonight.
  const std::map<Obstacle, Waited>& waited() const { return waits_.waited(); }
  // The job as it really is: none runs without a worker, even if the disk does not let us
  // record that it is gone.
  Job as_it_is(Job job) const;

 private:
  void tick();
  void look();
  void watch_the_wait(const Verdict& verdict);
  void forget_the_wait();
  void keep_lost_nights(const LostNights& before);
  void stop_if_closed(const DeviceReading& device);
  void watch_the_heat(const DeviceReading& device);
  void cannot_start(const Job& job, const std::exception& error);
  void start(const Job& job);
  std::unique_ptr<JobRunner> make_runner(const JobFile& file);
  void ended(const Outcome& outcome);
  void settle_ended();
  std::chrono::milliseconds grace() const;

  EventLoop& loop_;
  const Config& config_;
  const WorkerCommand& command_;
  const StateLayout layout_;
  const World& world_;
  JobStore& jobs_;
  DiskReserve& reserve_;
  Listener listener_;
  const JobFolder folder_;
  std::unique_ptr<JobRunner> runner_;
  std::optional<std::pair<std::int64_t, Outcome>> ended_;  // not recorded yet
  QueueHold hold_;
  JobDelays delays_;
  Settlement settlement_;
  WaitLog waits_;
  Heat heat_;
  bool runs_now_ = false;  // the running job ignores the window
  std::string stop_reason_;
  std::vector<std::function<void()>> when_dropped_;  // the running job begins anew; then these
  Json progress_;
  std::function<void()> shut_down_done_;
  EventLoop::TimerId timer_ = 0;
};

}  // namespace moil::daemon
