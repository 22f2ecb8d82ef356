// What the model tells of the labels (label.audit, suggest, meanings), which may take minutes.
// Whoever asks for what another one is waiting for, of the same labels, waits for the same worker;
// it ends with the last who waits. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/rpc/method.h"
#include "daemon/spec/job_spec.h"
#include "daemon/workers/job_planner.h"
#include "datasets/labels/label_store.h"

namespace moil::daemon {

class Studies {
 public:
  // Both outlive it. labels: a reader that the loop may ask.
  Studies(JobPlanner& planner, const data::LabelStore& labels)
      : planner_(planner), labels_(labels) {}
  Studies(const Studies&) = delete;
  Studies& operator=(const Studies&) = delete;

  // As JobPlanner::start(). progress: of the worker that is waited for; empty: not asked for.
  void start(const JobSpec& spec, const std::vector<std::string>& options, const Responder& asker,
             JobPlanner::Progress progress = {});

 private:
  struct Asker {
    Responder responder;
    JobPlanner::Progress progress;
  };
  struct Work {
    std::map<std::uint64_t, Asker> askers;
    std::function<void()> stop;
  };
  using WorkPtr = std::shared_ptr<Work>;

  void begin(const JobSpec& spec, const std::vector<std::string>& options, const std::string& what,
             const WorkPtr& work, uid_t user);
  void join(const WorkPtr& work, Asker asker);
  void ended(const std::string& what, const WorkPtr& work, const Json& result,
             const RpcError* error);

  JobPlanner& planner_;
  const data::LabelStore& labels_;
  std::map<std::string, WorkPtr> under_way_;
  std::uint64_t next_ = 1;
};

}  // namespace moil::daemon
