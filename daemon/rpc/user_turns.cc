#include "daemon/rpc/user_turns.h"

#include <algorithm>
#include <utility>

namespace moil::daemon {

UserTurns::UserTurns(EventLoop& loop, Most most)
    : loop_(loop), most_(most), self_(std::make_shared<UserTurns*>(this)) {}

void UserTurns::ask(const Asker& asker, std::function<bool()> is_wanted,
                    std::function<void(Turn)> begin) {
  of(asker.user)
      .waiting.push_back({asker.is_administrator, std::move(is_wanted), std::move(begin)});
  go_on_soon();
}

void UserTurns::drop_unwanted() {
  std::list<Waiting> gone;  // what they hold may ask for another turn at its end
  for (User& user : users_) {
    for (auto waiting = user.waiting.begin(); waiting != user.waiting.end();) {
      const auto next = std::next(waiting);
      if (!waiting->is_wanted()) gone.splice(gone.end(), user.waiting, waiting);
      waiting = next;
    }
  }
}

// From the loop: a turn may end anywhere, also while one is being given.
void UserTurns::go_on_soon() {
  if (std::exchange(going_on_, true)) return;
  loop_.post([self = std::weak_ptr(self_)] {
    if (const auto alive = self.lock()) (*alive)->go_on();
  });
}

void UserTurns::go_on() {
  going_on_ = false;
  while (give_one()) {
  }
  std::erase_if(users_, [](const User& u) { return u.taken == 0 && u.waiting.empty(); });
}

// False if nobody can be given one.
bool UserTurns::give_one() {
  for (auto user = users_.begin(); user != users_.end(); ++user) {
    if (user->waiting.empty() || user->taken >= most_.user) continue;
    const int left_to_others = user->waiting.front().is_administrator ? 0 : 1;
    if (taken_ >= most_.together - left_to_others) continue;
    const Waiting next = std::move(user->waiting.front());
    user->waiting.pop_front();
    if (!next.is_wanted()) return true;
    Turn turn = turn_of(*user);
    users_.splice(users_.end(), users_, user);  // the others come before its next one
    next.begin(std::move(turn));
    return true;
  }
  return false;
}

UserTurns::User& UserTurns::of(uid_t user) {
  const auto found = std::ranges::find(users_, user, &User::user);
  return found != users_.end() ? *found : users_.emplace_back(User{user, 0, {}});
}

UserTurns::Turn UserTurns::turn_of(User& user) {
  ++user.taken;
  ++taken_;
  return {static_cast<const void*>(this),
          [self = std::weak_ptr(self_), whose = user.user](const void*) {
            if (const auto alive = self.lock()) (*alive)->ended(whose);
          }};
}

void UserTurns::ended(uid_t user) {
  --of(user).taken;
  --taken_;
  go_on_soon();
}

}  // namespace moil::daemon
