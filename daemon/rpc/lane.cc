#include "daemon/rpc/lane.h"

#include "daemon/log/log.h"

namespace moil::daemon {

Lane::Lane(EventLoop& loop, std::function<bool()> may_go_on)
    : loop_(loop), may_go_on_(std::move(may_go_on)) {}

void Lane::add(Step step) {
  steps_.push_back(std::move(step));
  go_on();
}

void Lane::go_on() {
  if (busy_ || steps_.empty() || !may_go_on_()) return;
  busy_ = true;
  const Step step = std::move(steps_.front());
  steps_.pop_front();
  // Later and from the loop: a step may end while the one after it is about to be added.
  const Turn turn(nullptr, [self = weak_from_this()](void*) {
    const auto lane = self.lock();
    if (!lane) return;
    lane->busy_ = false;
    lane->loop_.post([self] {
      if (const auto alive = self.lock()) alive->go_on();
    });
  });
  try {
    step(turn);
  } catch (const std::exception& error) {
    log_error("a request could not be begun: {}", error.what());
  }
}

void Lane::drop() {
  // A step that is dropped may tell somebody, who may add another.
  while (!steps_.empty()) {
    const Step step = std::move(steps_.front());
    steps_.pop_front();
  }
}

}  // namespace moil::daemon
