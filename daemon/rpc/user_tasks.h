// Clients' small tasks on the loop, such as a request: users take turns, one task after the other,
// so that a user with many clients holds up the others by one task, and all of them together hold
// up the loop for a moment only. Loop thread only.
#pragma once

#include <sys/types.h>

#include <deque>
#include <list>
#include <memory>
#include <utility>

#include "daemon/loop/event_loop.h"

namespace moil::daemon {

class UserTasks {
 public:
  explicit UserTasks(EventLoop& loop);
  UserTasks(const UserTasks&) = delete;
  UserTasks& operator=(const UserTasks&) = delete;

  // Later, from the loop; never after the end of this.
  void add(uid_t user, EventLoop::Task task);

 private:
  struct User {
    uid_t user;
    std::deque<EventLoop::Task> tasks;
  };
  void go_on_soon();
  void go_on();

  EventLoop& loop_;
  std::list<User> users_;  // who have tasks, in the order of their turns
  bool going_on_ = false;
  std::shared_ptr<UserTasks*> self_;  // null once this is gone
};

}  // namespace moil::daemon
