// The one thread that owns sockets, children and the database: an epoll loop with timers.
//
// stop() and post() may be called from any thread; everything else only from the thread that runs
// the loop (or before it runs). Handlers may add and remove watches and timers, their own included.
// What a handler, timer or posted task throws is logged and goes no further: the loop goes on. A
// watch whose handler threw rests for a moment, so that it cannot fail again and again at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/unique_fd.h"

namespace moil::daemon {

class EventLoop {
 public:
  using Clock = std::chrono::steady_clock;
  using Task = std::function<void()>;
  using Handler = std::function<void(std::uint32_t events)>;
  using TimerId = std::uint64_t;  // never 0

  EventLoop();

  void run();
  void stop();
  void post(Task task);

  // Calls `handler` with EPOLLIN, EPOLLOUT, ... The descriptor stays the caller's, who unwatches
  // it before closing it.
  void watch(int fd, std::uint32_t events, Handler handler);
  void change(int fd, std::uint32_t events);
  void unwatch(int fd);

  TimerId after(std::chrono::milliseconds delay, Task task);
  void cancel(TimerId timer);

 private:
  struct Watch {
    std::uint64_t token;
    std::uint32_t events;
    std::shared_ptr<Handler> handler;
  };
  struct Timer {
    TimerId id;
    Task task;
  };

  int milliseconds_to_next_timer() const;
  void run_due_timers();
  void run_posted();
  void dispatch(std::uint64_t token, std::uint32_t events);
  void rest(std::uint64_t token);

  UniqueFd epoll_;
  UniqueFd wake_;  // eventfd: something was posted
  std::unordered_map<int, Watch> watches_;
  std::unordered_map<std::uint64_t, int> descriptors_;  // token -> fd; stale events find nothing
  std::uint64_t next_token_ = 1;
  std::multimap<Clock::time_point, Timer> timers_;
  TimerId next_timer_ = 1;

  std::mutex mutex_;
  std::vector<Task> posted_;  // guarded by mutex_
  bool stopped_ = false;      // guarded by mutex_
};

}  // namespace moil::daemon
