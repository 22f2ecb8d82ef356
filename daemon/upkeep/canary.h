// Holds promoted versions against what users label afterwards, if their job asked for it:
// samples that were added, or got other labels by whatever way, since the version was put in
// service are shown to it and to its parent. If the version gets some wrong that its parent gets
// right, and that can hardly be chance, it is rolled back (docs/model-life.md states the rule).
//
// Samples are looked at a few at a time, by workers beside the queue, which never waits for them:
// only while no job runs and the device meets the conditions of a night, at whatever hour. Models
// take turns; if something fails with one, that one rests, and then fewer of its samples are
// asked about at once, until the one that does harm is alone: that counts as none. Loop thread
// only.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/jobs/scheduler.h"
#include "daemon/loop/background.h"
#include "daemon/state/canary_store.h"
#include "daemon/workers/worker_calls.h"

namespace moil::daemon {

// A sign test that may be looked at after every sample: a bound on the chance that it ever comes to
// so little, if a sample on which the two versions differ were as likely to speak for one as for
// the other. (One over the wealth of a gambler who bets, with a prior that is uniform over what is
// worse than even, that the version is worse; by Ville's inequality.)
[[nodiscard]] double sign_test(std::int64_t worse, std::int64_t better);

// Whether the rule asks for a rollback.
[[nodiscard]] bool is_contradicted(const Canary& canary);

class CanaryWatch {
 public:
  // All outlive it and its work. changed: a job got an event.
  struct Surroundings {
    EventLoop& loop;
    const Config& config;
    const World& world;
    const StateLayout& layout;
    Background& background;
    WorkerCalls& calls;
    const WorkerCommand& command;
    Database& database;
    ModelStore& models;
    JobStore& jobs;
    const data::LabelStore& labels;  // for the background thread
    const data::LabelStore& view;    // for the loop
    Scheduler& scheduler;
    std::function<void(std::int64_t job)> changed;
  };

  explicit CanaryWatch(Surroundings around);  // looks every poll_seconds
  ~CanaryWatch();
  CanaryWatch(const CanaryWatch&) = delete;
  CanaryWatch& operator=(const CanaryWatch&) = delete;

 private:
  struct Sample {
    data::Digest digest;
    std::set<std::string> right;  // names that are right of it; none if only `wrong` is known
    std::set<std::string> wrong;
    UniqueFd content;  // none: it cannot be read
  };
  struct Question;
  using QuestionPtr = std::shared_ptr<Question>;
  // What is remembered of a model's trouble.
  struct Patience {
    std::int64_t until = 0;  // steady clock; before it nothing is asked
    std::size_t at_once;     // samples of a question
    Patience();
  };

  void tick();
  void look_or_rest(const Canary& canary);
  void look(const Canary& canary);
  [[nodiscard]] bool is_idle() const;
  void gather(const Canary& canary);
  void gathered(const QuestionPtr& question, const std::vector<data::SampleChange>& changes,
                const std::vector<data::Digest>& unlabelled);
  void ask(const QuestionPtr& question, std::int64_t version);
  void answered(const QuestionPtr& question, const Json& predictions);
  void failed(const Question& question, const std::exception_ptr& error);
  void rest(const std::string& model, const std::exception_ptr& error);
  void roll_back(const Canary& canary);
  void give_up(const Canary& canary, const std::string& why);
  void tell(const Canary& canary, const std::string& message);
  [[nodiscard]] bool is_labelled(const data::Digest& digest) const;
  std::vector<Sample> read(const std::vector<data::Digest>& digests) const;
  Sample read(const data::SampleRecord& record, const data::Reconciliation& maps) const;

  const Surroundings s_;
  CanaryStore store_;
  bool busy_ = false;
  std::string last_;  // the model that was looked at last
  std::map<std::string, Patience> patience_;
  EventLoop::TimerId timer_ = 0;
};

}  // namespace moil::daemon
