#include "daemon/rpc/user_tasks.h"

#include <algorithm>
#include <chrono>

#include "daemon/log/log.h"

namespace moil::daemon {
namespace {

// Then what else the loop does has its turn.
constexpr std::chrono::milliseconds kTasksAtOnce{10};

}  // namespace

UserTasks::UserTasks(EventLoop& loop) : loop_(loop), self_(std::make_shared<UserTasks*>(this)) {}

void UserTasks::add(uid_t user, EventLoop::Task task) {
  const auto found = std::ranges::find(users_, user, &User::user);
  User& whose = found != users_.end() ? *found : users_.emplace_back(User{user, {}});
  whose.tasks.push_back(std::move(task));
  go_on_soon();
}

void UserTasks::go_on_soon() {
  if (std::exchange(going_on_, true)) return;
  loop_.post([self = std::weak_ptr(self_)] {
    if (const auto alive = self.lock()) (*alive)->go_on();
  });
}

void UserTasks::go_on() {
  const auto end = std::chrono::steady_clock::now() + kTasksAtOnce;
  const std::weak_ptr<UserTasks*> alive = self_;
  while (!users_.empty() && std::chrono::steady_clock::now() < end) {
    User& user = users_.front();
    const EventLoop::Task task = std::move(user.tasks.front());
    user.tasks.pop_front();
    if (user.tasks.empty()) {
      users_.pop_front();
    } else {
      users_.splice(users_.end(), users_, users_.begin());
    }
    try {
      task();
    } catch (const std::exception& error) {
      log_error("a client's task failed: {}", error.what());
    }
    if (alive.expired()) return;
  }
  going_on_ = false;
  if (!users_.empty()) go_on_soon();
}

}  // namespace moil::daemon
