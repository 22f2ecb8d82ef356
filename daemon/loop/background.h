// One thread for what would hold up the loop: label files, cache statistics, fsyncs.
//
// Tasks run one after the other in the order they were submitted; `done` runs on the loop's thread,
// and what a task holds is destroyed there, too. submit() is called from the loop's thread.
// Destruction finishes the running task and drops the rest: what tasks use must outlive it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "daemon/loop/event_loop.h"

namespace moil::daemon {

class Background {
 public:
  explicit Background(EventLoop& loop);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // `work` runs on the thread and must not throw; it returns what to run on the loop afterwards.
  // kCancelled if the background is being destroyed.
  using Done = std::function<void()>;
  void submit(std::function<Done()> work);

 private:
  using Work = std::function<Done()>;
  void run();

  EventLoop& loop_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Work> waiting_;  // guarded by mutex_
  bool stopping_ = false;     // guarded by mutex_
  std::thread thread_;        // last: starts when all else is there
};

}  // namespace moil::daemon
