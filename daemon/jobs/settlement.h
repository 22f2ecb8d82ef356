// What becomes of a job whose worker ended: its version is promoted, or kept back by the guard; it
// failed, was cancelled, or is queued again for another attempt. That is recorded with the disk's
// reserve, and told.
//
// A worker that died unasked costs an attempt; errors that repeating cannot cure end the job at
// once; what lies in the device and passes costs nothing and holds the queue. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "daemon/config/config.h"
#include "daemon/jobs/job_delays.h"
#include "daemon/jobs/job_folder.h"
#include "daemon/jobs/job_runner.h"
#include "daemon/jobs/queue_hold.h"
#include "daemon/state/disk_reserve.h"
#include "datasets/labels/label_store.h"

namespace moil::daemon {

// Why a running job is stopped to begin anew.
inline constexpr const char* kForgotten =
    "a sample was forgotten; the night begins anew without it";
inline constexpr const char* kOtherBase =
    "another version was put in service; the night begins anew from it";

class Settlement {
 public:
  // All outlive it.
  struct Surroundings {
    const Config& config;
    const World& world;
    const StateLayout& layout;
    JobStore& jobs;
    const data::LabelStore& labels;
    DiskReserve& reserve;
    const JobFolder& folder;
    QueueHold& hold;
    JobDelays& delays;
    std::function<void(std::int64_t job)> changed;   // its events say how
    std::function<void(std::int64_t job)> finished;  // for good
  };

  explicit Settlement(Surroundings around) : s_(std::move(around)) {}

  // stop_reason: why the worker was asked to stop, if it was. If this throws, nothing of it
  // is recorded.
  void settle(std::int64_t id, const Outcome& outcome, const std::string& stop_reason);
  // After a restart: records the results of jobs that were done when the daemon ended.
  void settle_found();

 private:
  void record(const Job& job, const Outcome& outcome, const std::string& stop_reason);
  void record_result(const Job& job, const Json& result);
  void settle_found(const Job& job);
  void wait_for_room(const Job& job, const std::string& why);
  void died(const Job& job, const std::string& why);

  const Surroundings s_;
};

}  // namespace moil::daemon
