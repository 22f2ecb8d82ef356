#include "daemon/loop/event_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <systemd/sd-event.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "daemon/log/log.h"

namespace moil::daemon {
namespace {

constexpr std::chrono::milliseconds kRestAfterFailure{100};
// Then others have their turn, however much is posted.
constexpr std::chrono::milliseconds kPostedAtOnce{10};
constexpr std::uint64_t kMillisecond = 1000;  // in sd-event's microseconds; how late a timer may be

// sd-event answers with an error number below 0.
void check(int result, const char* what) {
  if (result < 0) throw system_error(what, -result);
}

void set_priority(sd_event_source* source, EventLoop::Priority priority) {
  if (priority == EventLoop::Priority::kUsual) return;
  check(sd_event_source_set_priority(source, SD_EVENT_PRIORITY_IMPORTANT),
        "cannot prefer what is urgent");
}

// Whether it ended without an exception; what was thrown is logged.
template <class Call>
bool guarded(const char* what, const Call& call) {
  try {
    call();
    return true;
  } catch (const std::exception& error) {
    log_error("{} failed: {}", what, error.what());
  } catch (...) {
    log_error("{} failed with something that is no exception", what);
  }
  return false;
}

}  // namespace

void EventLoop::Unref::operator()(sd_event* event) const { sd_event_unref(event); }

// Its function is not called any more, though others hold it.
void EventLoop::Unref::operator()(sd_event_source* source) const {
  sd_event_source_disable_unref(source);
}

EventLoop::EventLoop() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_) throw system_error("cannot create the event loop", errno);
  sd_event* event = nullptr;
  check(sd_event_new(&event), "cannot create the event loop");
  event_.reset(event);
  sd_event_source* source = nullptr;
  check(sd_event_add_io(event, &source, wake_.get(), EPOLLIN, on_wake, this),
        "cannot watch the wake descriptor");
  wake_source_.reset(source);
}

EventLoop::~EventLoop() = default;

void EventLoop::run() {
  while (!stopped_) {
    const int result = sd_event_run(event_.get(), UINT64_MAX);
    if (result != -EINTR) check(result, "cannot wait for events");
  }
}

void EventLoop::stop() {
  post([this] { stopped_ = true; });
}

void EventLoop::post(Task task) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(task));
  }
  wake();
}

void EventLoop::wake() const {
  const std::uint64_t one = 1;
  // A full counter means that a wake-up is already pending.
  [[maybe_unused]] const ssize_t n = ::write(wake_.get(), &one, sizeof one);
}

int EventLoop::on_wake(sd_event_source*, int fd, std::uint32_t, void* loop) {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t n = ::read(fd, &count, sizeof count);
  static_cast<EventLoop*>(loop)->run_posted();
  return 0;
}

void EventLoop::run_posted() {
  const auto end = std::chrono::steady_clock::now() + kPostedAtOnce;
  std::deque<Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(posted_);
  }
  for (; !tasks.empty() && std::chrono::steady_clock::now() < end; tasks.pop_front()) {
    const Task task = std::move(tasks.front());
    guarded("a task", task);
  }
  if (tasks.empty()) return;
  const std::lock_guard lock(mutex_);
  posted_.insert(posted_.begin(), std::make_move_iterator(tasks.begin()),
                 std::make_move_iterator(tasks.end()));
  wake();
}

void EventLoop::watch(int fd, std::uint32_t events, Handler handler, Priority priority) {
  auto watch =
      std::make_unique<Watch>(Watch{*this, std::make_shared<Handler>(std::move(handler)), nullptr});
  sd_event_source* source = nullptr;
  check(sd_event_add_io(event_.get(), &source, fd, events, on_events, watch.get()),
        "cannot watch a descriptor");
  watch->source.reset(source);
  set_priority(source, priority);
  watches_[fd] = std::move(watch);
}

void EventLoop::change(int fd, std::uint32_t events) {
  check(sd_event_source_set_io_events(watches_.at(fd)->source.get(), events),
        "cannot change a watch");
}

void EventLoop::unwatch(int fd) {
  const auto it = watches_.find(fd);
  if (it == watches_.end()) return;
  cancel(it->second->rest);
  watches_.erase(it);
}

int EventLoop::on_events(sd_event_source*, int fd, std::uint32_t events, void* data) {
  EventLoop& loop = static_cast<Watch*>(data)->loop;
  const auto handler = static_cast<Watch*>(data)->handler;  // kept alive while it runs
  if (!guarded("a watch", [&] { (*handler)(events); }))
    guarded("resting a watch", [&] { loop.rest(fd); });
  return 0;
}

// The handler may have ended its watch, or begun another one of the same descriptor.
void EventLoop::rest(int fd) {
  const auto it = watches_.find(fd);
  if (it == watches_.end()) return;
  Watch& watch = *it->second;
  check(sd_event_source_set_enabled(watch.source.get(), SD_EVENT_OFF), "cannot rest a watch");
  cancel(watch.rest);
  watch.rest = after(kRestAfterFailure, [&watch] {
    watch.rest = 0;
    check(sd_event_source_set_enabled(watch.source.get(), SD_EVENT_ON), "cannot go on watching");
  });
}

EventLoop::TimerId EventLoop::after(std::chrono::milliseconds delay, Task task, Priority priority) {
  auto timer = std::make_unique<Timer>(Timer{*this, next_timer_++, std::move(task), nullptr});
  const auto microseconds =
      static_cast<std::uint64_t>(std::max<std::int64_t>(delay.count(), 0)) * kMillisecond;
  sd_event_source* source = nullptr;
  check(sd_event_add_time_relative(event_.get(), &source, CLOCK_MONOTONIC, microseconds,
                                   kMillisecond, on_time, timer.get()),
        "cannot set a timer");
  timer->source.reset(source);
  set_priority(source, priority);
  const TimerId id = timer->id;
  timers_[id] = std::move(timer);
  return id;
}

int EventLoop::on_time(sd_event_source*, std::uint64_t, void* data) {
  auto* timer = static_cast<Timer*>(data);
  EventLoop& loop = timer->loop;
  const auto owned = loop.timers_.extract(timer->id);  // its task may set and cancel others
  guarded("a timer", timer->task);
  return 0;
}

void EventLoop::cancel(TimerId timer) { timers_.erase(timer); }

}  // namespace moil::daemon
