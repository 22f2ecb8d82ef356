#include "daemon/loop/background.h"

#include "base/error.h"

namespace moil::daemon {

Background::Background(EventLoop& loop, std::size_t most_waiting)
    : loop_(loop), most_waiting_(most_waiting), thread_([this] { run(); }) {}

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Background::submit(std::function<Done()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= most_waiting_) {
      throw Error(ErrorCode::kResourceExhausted,
                  "the daemon is busy with earlier requests; try again later");
    }
    waiting_.push_back(std::move(work));
  }
  wake_.notify_one();
}

void Background::run() {
  for (;;) {
    std::function<Done()> work;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    loop_.post(work());
  }
}

}  // namespace moil::daemon
