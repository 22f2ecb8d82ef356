// Turns at what there are few of: worker processes. Users take them one after the other, however
// much each of them asks for; no user has more than a part of them, and one is left to
// administrators. Loop thread only.
#pragma once

#include <sys/types.h>

#include <functional>
#include <list>
#include <memory>

#include "daemon/loop/event_loop.h"

namespace moil::daemon {

class UserTurns {
 public:
  struct Most {
    int together = 4;
    int user = 2;
  };
  struct Asker {
    uid_t user = 0;
    bool is_administrator = false;
  };
  using Turn = std::shared_ptr<const void>;  // lasts as long as a copy of it

  explicit UserTurns(EventLoop& loop) : UserTurns(loop, Most()) {}
  UserTurns(EventLoop& loop, Most most);

  // Calls `begin` when it is the user's turn, from the loop; never if it is not wanted then.
  void ask(const Asker& asker, std::function<bool()> is_wanted, std::function<void(Turn)> begin);
  // Somebody who waits may not want it any more: what was asked for is let go.
  void drop_unwanted();
  int taken() const { return taken_; }

 private:
  struct Waiting {
    bool is_administrator;
    std::function<bool()> is_wanted;
    std::function<void(Turn)> begin;
  };
  struct User {
    uid_t user;
    int taken = 0;
    std::list<Waiting> waiting;
  };

  void go_on_soon();
  void go_on();
  bool give_one();
  User& of(uid_t user);
  Turn turn_of(User& user);
  void ended(uid_t user);

  EventLoop& loop_;
  const Most most_;
  int taken_ = 0;
  std::list<User> users_;  // in the order of their next turns
  bool going_on_ = false;
  std::shared_ptr<UserTurns*> self_;  // null once this is gone
};

}  // namespace moil::daemon
