// What is looked at before a job, or a schedule of jobs, is taken. Loop thread only.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "daemon/jobs/scheduler.h"
#include "daemon/loop/outside_calls.h"
#include "daemon/rpc/method.h"
#include "daemon/workers/job_planner.h"

namespace moil::daemon {

// The deadline of a method that looks at a job: at its pack, and by a worker.
inline constexpr std::chrono::minutes kCheckTime{2};

// All that it works with outlives it and its work.
struct JobIntake {
  const ModelStore& models;
  OutsideCalls& outside;
  JobPlanner& planner;
  JobStore& jobs;
  Scheduler& scheduler;

  // Looks at the pack, which may lie on a disk that hangs, and at what cannot be seen from the
  // description alone, then does the rest on the loop; else answers with what is wrong, at fields
  // below `pointer`.
  void with_pack(const JobSpec& spec, const std::string& pointer, const Responder& responder,
                 std::function<void()> rest) const;
  // The same; then a worker plans the job, and what `take` returns of it is the answer, or what is
  // wrong with it.
  void check(const JobSpec& spec, const std::string& pointer, const Responder& responder,
             std::function<Json()> take) const;
  // The same; then the job is queued. Answers {"id", "state"} and what `more` has.
  void submit(const JobSpec& spec, bool now, const std::string& pointer, const Responder& responder,
              const Json& more = Json::object()) const;
};

}  // namespace moil::daemon
