// What one client has asked for that takes longer: a step after the other, in the order in which it
// was asked for, so that clients take turns and what waits costs no more than its request. A step
// begins when the one before has ended and its client may be given more. Loop thread only.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "daemon/loop/event_loop.h"

namespace moil::daemon {

class Lane : public std::enable_shared_from_this<Lane> {
 public:
  // The step goes on while a copy of it is held.
  using Turn = std::shared_ptr<void>;
  using Step = std::function<void(const Turn&)>;

  Lane(EventLoop& loop, std::function<bool()> may_go_on);

  void add(Step step);
  void go_on();  // if it may go on and did not; to be called when that changes
  void drop();   // what has not begun

 private:
  EventLoop& loop_;
  std::function<bool()> may_go_on_;
  std::deque<Step> steps_;
  bool busy_ = false;
};

}  // namespace moil::daemon
