// A daemon that nobody asks anything gives back what answering took: the heap's free pages, and the
// code that is not running. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>

#include "daemon/loop/event_loop.h"

namespace moil::daemon {

class IdleMemory {
 public:
  // `taken`: the number of requests so far.
  IdleMemory(EventLoop& loop, std::function<std::uint64_t()> taken);
  ~IdleMemory();
  IdleMemory(const IdleMemory&) = delete;
  IdleMemory& operator=(const IdleMemory&) = delete;

 private:
  void look();

  EventLoop& loop_;
  std::function<std::uint64_t()> taken_;
  std::uint64_t before_ = 0;
  bool is_released_ = false;
  EventLoop::TimerId timer_ = 0;
};

}  // namespace moil::daemon
