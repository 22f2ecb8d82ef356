#include "daemon/upkeep/idle_memory.h"

#include "base/process_memory.h"

namespace moil::daemon {
namespace {
constexpr std::chrono::seconds kEvery{5};
}

IdleMemory::IdleMemory(EventLoop& loop, std::function<std::uint64_t()> taken)
    : loop_(loop), taken_(std::move(taken)), timer_(loop.after(kEvery, [this] { look(); })) {}

IdleMemory::~IdleMemory() { loop_.cancel(timer_); }

void IdleMemory::look() {
  timer_ = loop_.after(kEvery, [this] { look(); });
  const bool is_idle = taken_() == before_;
  before_ = taken_();
  if (is_idle && !is_released_) release_idle_memory();
  is_released_ = is_idle;
}

}  // namespace moil::daemon
