#include "daemon/rpc/method.h"

#include <utility>

namespace moil::daemon {

struct Responder::State {
  Send send;
  uid_t user = 0;
  std::vector<std::shared_ptr<const void>> held;
  std::function<void()> stop;
  bool stopped = false;
};

Responder::Responder(Send send, uid_t user)
    : state_(std::make_shared<State>(State{std::move(send), user, {}, {}, false})) {}

uid_t Responder::user() const { return state_->user; }

bool Responder::is_open() const { return static_cast<bool>(state_->send); }

void Responder::keep(std::shared_ptr<const void> held) const {
  if (is_open()) state_->held.push_back(std::move(held));
}

void Responder::on_stop(std::function<void()> stop) const {
  if (state_->stopped) return stop();
  if (is_open()) state_->stop = std::move(stop);
}

std::function<void()> Responder::stopper(RpcError why) const {
  return [state = std::weak_ptr(state_), why = std::move(why)] {
    const auto open = state.lock();
    if (!open || !open->send) return;
    open->stopped = true;
    const auto stop = std::exchange(open->stop, nullptr);
    Responder(open).error(why);
    if (stop) stop();
  };
}

void Responder::answer(Json value, const RpcError* error) const {
  const auto state = state_;  // an answer may let go of whoever gives it
  const Send send = std::exchange(state->send, nullptr);
  if (!send) return;
  state->stop = nullptr;
  const auto held = std::exchange(state->held, {});
  send(std::move(value), error);
}

}  // namespace moil::daemon
