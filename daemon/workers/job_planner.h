// What planning tells of a job that does not run: what it would need (job.plan), and whether the
// night would refuse it (job.submit). A worker does it: the daemon knows no networks.
//
// Loop thread only.
#pragma once

#include <exception>
#include <functional>
#include <map>

#include "daemon/config/config.h"
#include "daemon/loop/event_loop.h"
#include "daemon/rpc/method.h"
#include "daemon/spec/job_spec.h"
#include "daemon/state/model_store.h"
#include "daemon/workers/worker_calls.h"
#include "daemon/workers/worker_command.h"

namespace moil::daemon {

class JobPlanner {
 public:
  JobPlanner(EventLoop& loop, WorkerCalls& calls, const WorkerCommand& command,
             const StateLayout& layout, const Config& config, const ModelStore& models);
  ~JobPlanner();
  JobPlanner(const JobPlanner&) = delete;
  JobPlanner& operator=(const JobPlanner&) = delete;

  // Gets a worker's progress events (worker_protocol.h).
  using Progress = std::function<void(const Json& event)>;
  // Answers with the worker's plan (docs/protocol.md, job.plan). options: of the worker's
  // command line. progress: called while it is at work.
  void start(const JobSpec& spec, const std::vector<std::string>& options,
             const Responder& responder, Progress progress = {});

  // Calls `done` with what the night would refuse the job for, fields at /job/...; with nothing if
  // it would not, or if no worker could say in a while: then the night will. whose: the request
  // that asks.
  using Checked = std::function<void(std::exception_ptr refusal)>;
  void check(const JobSpec& spec, const Responder& whose, Checked done);

 private:
  struct Check {
    Checked done;
    EventLoop::TimerId timer = 0;
  };

  std::uint64_t call(const JobSpec& spec, const std::vector<std::string>& options,
                     WorkerCalls::Answer answer);
  void checked(std::uint64_t check, const std::exception_ptr& error);

  EventLoop& loop_;
  WorkerCalls& calls_;
  const WorkerCommand& command_;
  const StateLayout layout_;
  const Config& config_;
  const ModelStore& models_;
  std::int64_t next_ = 1;
  std::map<std::uint64_t, Check> checks_;
  std::uint64_t next_check_ = 1;
};

}  // namespace moil::daemon
