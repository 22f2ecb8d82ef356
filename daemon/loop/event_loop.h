// The one thread that owns sockets, children and the database: sd-event, in C++ and for functions
// that throw.
//
// stop() and post() may be called from any thread; everything else only from the thread that runs
// the loop (or before it runs). Handlers may add and remove watches and timers, their own included.
// What a handler, timer or posted task throws is logged and goes no further: the loop goes on. A
// watch whose handler threw rests for a moment, so that it cannot fail again and again at once.
// Descriptors, timers and what is posted take turns; what is urgent goes before all of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "base/files/unique_fd.h"

struct sd_event;
struct sd_event_source;

namespace moil::daemon {

class EventLoop {
 public:
  using Task = std::function<void()>;
  using Handler = std::function<void(std::uint32_t events)>;
  using TimerId = std::uint64_t;  // never 0

  EventLoop();  // kIo
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void run();
  void stop();
  void post(Task task);

  // Urgent: what keeps the daemon itself, such as signals and the watchdog.
  enum class Priority { kUsual, kUrgent };

  // Calls `handler` with EPOLLIN, EPOLLOUT, ... The descriptor stays the caller's, who unwatches
  // it before closing it.
  void watch(int fd, std::uint32_t events, Handler handler, Priority priority = Priority::kUsual);
  void change(int fd, std::uint32_t events);
  void unwatch(int fd);

  TimerId after(std::chrono::milliseconds delay, Task task, Priority priority = Priority::kUsual);
  void cancel(TimerId timer);

 private:
  struct Unref {
    void operator()(sd_event* event) const;
    void operator()(sd_event_source* source) const;
  };
  using Source = std::unique_ptr<sd_event_source, Unref>;
  struct Watch {
    EventLoop& loop;
    std::shared_ptr<Handler> handler;
    Source source;
    TimerId rest = 0;  // until it goes on
  };
  struct Timer {
    EventLoop& loop;
    TimerId id;
    Task task;
    Source source;
  };

  static int on_events(sd_event_source* source, int fd, std::uint32_t events, void* watch);
  static int on_time(sd_event_source* source, std::uint64_t microseconds, void* timer);
  static int on_wake(sd_event_source* source, int fd, std::uint32_t events, void* loop);
  void run_posted();
  void wake() const;
  void rest(int fd);

  std::unique_ptr<sd_event, Unref> event_;
  UniqueFd wake_;  // eventfd: something was posted
  Source wake_source_;
  std::map<int, std::unique_ptr<Watch>> watches_;  // by descriptor
  std::map<TimerId, std::unique_ptr<Timer>> timers_;
  TimerId next_timer_ = 1;
  bool stopped_ = false;

  std::mutex mutex_;
  std::deque<Task> posted_;  // guarded by mutex_
};

}  // namespace moil::daemon
