#include "daemon/loop/event_loop.h"

#include <spdlog/spdlog.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/error.h"

namespace moil::daemon {
namespace {

constexpr std::uint64_t kWakeToken = 0;
constexpr std::chrono::milliseconds kRest{100};

// Whether it ended without an exception; what was thrown is logged.
template <class Call>
bool guarded(const char* what, const Call& call) {
  try {
    call();
    return true;
  } catch (const std::exception& error) {
    spdlog::error("{} failed: {}", what, error.what());
  } catch (...) {
    spdlog::error("{} failed with something that is no exception", what);
  }
  return false;
}

}  // namespace

EventLoop::EventLoop()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!epoll_ || !wake_) throw system_error("cannot create the event loop", errno);
  epoll_event event{.events = EPOLLIN, .data = {.u64 = kWakeToken}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0) {
    throw system_error("cannot watch the wake descriptor", errno);
  }
}

void EventLoop::run() {
  std::array<epoll_event, 32> events{};
  for (;;) {
    run_posted();
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) return;
    }
    const int n = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                               milliseconds_to_next_timer());
    if (n < 0 && errno != EINTR) throw system_error("epoll_wait", errno);
    for (int i = 0; i < n; ++i) {
      const auto& event = events[static_cast<std::size_t>(i)];
      dispatch(event.data.u64, event.events);
    }
    run_due_timers();
  }
}

void EventLoop::stop() {
  post([this] {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  });
}

void EventLoop::post(Task task) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(task));
  }
  const std::uint64_t one = 1;
  // A full counter means that a wake-up is already pending.
  [[maybe_unused]] const ssize_t n = ::write(wake_.get(), &one, sizeof one);
}

void EventLoop::watch(int fd, std::uint32_t events, Handler handler) {
  const std::uint64_t token = next_token_++;
  epoll_event event{.events = events, .data = {.u64 = token}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    throw system_error("cannot watch a descriptor", errno);
  }
  watches_[fd] = {token, events, std::make_shared<Handler>(std::move(handler))};
  descriptors_[token] = fd;
}

void EventLoop::change(int fd, std::uint32_t events) {
  Watch& watch = watches_.at(fd);
  watch.events = events;
  epoll_event event{.events = events, .data = {.u64 = watch.token}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) != 0 && errno != ENOENT) {
    throw system_error("cannot change a watch", errno);  // ENOENT: it rests
  }
}

void EventLoop::unwatch(int fd) {
  const auto it = watches_.find(fd);
  if (it == watches_.end()) return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  descriptors_.erase(it->second.token);
  watches_.erase(it);
}

EventLoop::TimerId EventLoop::after(std::chrono::milliseconds delay, Task task) {
  const TimerId id = next_timer_++;
  timers_.emplace(Clock::now() + delay, Timer{id, std::move(task)});
  return id;
}

void EventLoop::cancel(TimerId timer) {
  std::erase_if(timers_, [timer](const auto& entry) { return entry.second.id == timer; });
}

int EventLoop::milliseconds_to_next_timer() const {
  if (timers_.empty()) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

void EventLoop::run_due_timers() {
  const auto now = Clock::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const Task task = std::move(timers_.begin()->second.task);
    timers_.erase(timers_.begin());
    guarded("a timer", task);
  }
}

void EventLoop::run_posted() {
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(posted_);
  }
  for (const Task& task : tasks) guarded("a task", task);
}

void EventLoop::dispatch(std::uint64_t token, std::uint32_t events) {
  if (token == kWakeToken) {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t n = ::read(wake_.get(), &count, sizeof count);
    return;
  }
  const auto it = descriptors_.find(token);
  if (it == descriptors_.end()) return;
  const auto handler = watches_.at(it->second).handler;  // kept alive while it runs
  if (!guarded("a watch", [&] { (*handler)(events); })) {
    guarded("resting a watch", [&] { rest(token); });
  }
}

void EventLoop::rest(std::uint64_t token) {
  const auto it = descriptors_.find(token);
  if (it == descriptors_.end()) return;  // the handler has ended its watch
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, it->second, nullptr);
  after(kRest, [this, token] {
    const auto found = descriptors_.find(token);
    if (found == descriptors_.end()) return;
    epoll_event event{.events = watches_.at(found->second).events, .data = {.u64 = token}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, found->second, &event) != 0) {
      throw system_error("cannot watch a descriptor again", errno);
    }
  });
}

}  // namespace moil::daemon
