#include "daemon/loop/background.h"

#include <memory>

#include "base/error.h"

namespace moil::daemon {

Background::Background(EventLoop& loop) : loop_(loop), thread_([this] { run(); }) {}

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
  // A task that is dropped may tell somebody, who may submit another, which is refused.
  const auto dropped = std::exchange(waiting_, {});
}

void Background::submit(std::function<Done()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) throw Error(ErrorCode::kCancelled, "the daemon is stopping");
    waiting_.push_back(std::move(work));
  }
  wake_.notify_one();
}

void Background::run() {
  for (;;) {
    auto task = std::make_shared<std::pair<Work, Done>>();
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      task->first = std::move(waiting_.front());
      waiting_.pop_front();
    }
    task->second = task->first();
    // Moved, so that its last owner is the loop.
    loop_.post([task = std::move(task)] { task->second(); });
  }
}

}  // namespace moil::daemon
