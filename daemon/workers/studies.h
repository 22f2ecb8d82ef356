// What the model tells of the labels (label.audit, suggest, meanings), which may take minutes.
// Whoever asks for what another one is waiting for, of the same labels and the same version of the
// model, waits for the same worker; it ends with the last who waits. The last answers are kept, and
// given again until anything in the label store or the version in service changes. Loop thread
// only.
#pragma once

#include <cstdint>
#include <deque>
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
  // All outlive it. labels: a reader that the loop may ask.
  Studies(JobPlanner& planner, const data::LabelStore& labels, const ModelStore& models)
      : planner_(planner), labels_(labels), models_(models) {}
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
    std::int64_t labels = 0;  // the state of these when it was begun
    std::map<std::uint64_t, Asker> askers;
    std::function<void()> stop;
  };
  using WorkPtr = std::shared_ptr<Work>;
  struct Kept {
    std::string what;
    Json result;
  };

  void begin(const JobSpec& spec, const std::vector<std::string>& options, const std::string& what,
             const WorkPtr& work, uid_t user);
  void join(const WorkPtr& work, Asker asker);
  void ended(const std::string& what, const WorkPtr& work, const Json& result,
             const RpcError* error);
  const Json* known(const std::string& what);
  void keep(const std::string& what, const Work& work, const Json& result);

  JobPlanner& planner_;
  const data::LabelStore& labels_;
  const ModelStore& models_;
  std::deque<Kept> kept_;         // the newest first
  std::int64_t kept_labels_ = 0;  // the state of labels that they are of
  std::map<std::string, WorkPtr> under_way_;
  std::uint64_t next_ = 1;
};

}  // namespace moil::daemon
