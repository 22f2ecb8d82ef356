// job.plan: a worker says what a job would need, without running it. Loop thread only.
#pragma once

#include "daemon/job_spec.h"
#include "daemon/rpc/method.h"
#include "daemon/service/config.h"
#include "daemon/service/worker_calls.h"
#include "daemon/service/worker_command.h"
#include "daemon/state/model_store.h"

namespace moil::daemon {

class JobPlanner {
 public:
  JobPlanner(WorkerCalls& calls, const WorkerCommand& command, const StateLayout& layout,
             const Config& config, const ModelStore& models);

  // Answers with the worker's plan (docs/protocol.md, job.plan). options: of the worker's
  // command line.
  void start(const JobSpec& spec, const std::vector<std::string>& options,
             const Responder& responder);

 private:
  WorkerCalls& calls_;
  const WorkerCommand& command_;
  const StateLayout layout_;
  const Config& config_;
  const ModelStore& models_;
  std::int64_t next_ = 1;
};

}  // namespace moil::daemon
