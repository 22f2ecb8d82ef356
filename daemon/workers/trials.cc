#include "daemon/workers/trials.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "daemon/rpc/error.h"

namespace moil::daemon {
namespace {

constexpr std::chrono::seconds kTrialPatience{120};  // with one worker

}  // namespace

class Trials::Trial : public std::enable_shared_from_this<Trial> {
 public:
  Trial(Trials& by, const std::vector<int>& descriptors, const Responder& whose, Said said)
      : by_(by),
        descriptors_(descriptors),
        whose_(whose),
        said_(std::move(said)),
        at_once_(descriptors.size()) {}

  void begin(UserTurns::Turn turn) {
    turn_ = std::move(turn);
    go_on();
  }

 private:
  // The next ones, and then the others.
  void go_on() {
    if (!whose_.is_open()) return;
    if (told_.size() == descriptors_.size()) {
      turn_.reset();
      return said_(told_);
    }
    const std::size_t count = std::min(at_once_, descriptors_.size() - told_.size());
    const auto begin = descriptors_.begin() + static_cast<std::ptrdiff_t>(told_.size());
    const std::vector<int> some(begin, begin + static_cast<std::ptrdiff_t>(count));
    const auto self = shared_from_this();
    WorkerCalls::Answer answer;
    answer.result = [self](const Json& result) { self->told(result.at("samples")); };
    answer.error = [self, count](const std::exception_ptr& error) { self->died(error, count); };
    answer.whose = whose_;
    try {
      const auto call = by_.calls_.start(by_.command_.try_samples(some), std::move(answer));
      timer_ = by_.loop_.after(kTrialPatience, [&calls = by_.calls_, call] { calls.kill(call); });
    } catch (...) {
      whose_.error(rpc_error(std::current_exception()));
    }
  }

  void told(const Json& samples) {
    by_.loop_.cancel(timer_);
    told_.insert(told_.end(), samples.begin(), samples.end());
    go_on();
  }

  // Of one of them: which it was shows if each is tried alone. What it does not die of twice it may
  // have died of by chance.
  void died(const std::exception_ptr& error, std::size_t count) {
    by_.loop_.cancel(timer_);
    at_once_ = 1;
    const bool is_first = !std::exchange(died_, true);
    if (is_first || count > 1) return go_on();
    const RpcError why = rpc_error(error);
    told_.push_back({{"error",
                      {{"code", why.data.value("code", "internal")},
                       {"message", "it cannot be read: " + why.message}}}});
    go_on();
  }

  Trials& by_;
  const std::vector<int> descriptors_;
  const Responder whose_;
  const Said said_;
  UserTurns::Turn turn_;
  EventLoop::TimerId timer_ = 0;
  std::size_t at_once_;
  bool died_ = false;
  std::vector<Json> told_;  // of the first ones
};

void Trials::start(const std::vector<int>& descriptors, const Responder& whose, Said said) {
  if (descriptors.empty()) return said({});
  const auto trial = std::make_shared<Trial>(*this, descriptors, whose, std::move(said));
  turns_.ask(
      {whose.user(), false}, [whose] { return whose.is_open(); },
      [trial](UserTurns::Turn turn) { trial->begin(std::move(turn)); });
}

}  // namespace moil::daemon
