// What is committed during its life nobody waits for (flusher.h): it is there after a crash of the
// daemon, and after a power cut once something was committed that is waited for.
#pragma once

namespace moil::daemon {

class FlushedLater {
 public:
  FlushedLater() { ++depth_; }
  ~FlushedLater() { --depth_; }
  FlushedLater(const FlushedLater&) = delete;
  FlushedLater& operator=(const FlushedLater&) = delete;

  // Whether one lives in this thread.
  static bool is_on() { return depth_ > 0; }

 private:
  static inline thread_local int depth_ = 0;
};

}  // namespace moil::daemon
