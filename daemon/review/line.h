// A connection of the review's to moild, for one request at a time.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "daemon/client/session.h"

namespace moil::review {

class Line {
 public:
  std::mutex mutex;
  daemon::ClientSession session;

  // Once more on a new connection if the old one is lost: moild may be started anew while the page
  // is open, and doing it twice does no more than once. is_wanted: asked some times a second, also
  // while others are on the line; kCancelled once it is not, and moild hears of that.
  template <class Work>
  auto ask(const Work& work, const std::function<bool()>& is_wanted = {}) {
    const auto guard = turn(is_wanted);
    const auto look = [&] {
      if (!is_wanted()) throw Error(ErrorCode::kCancelled, "nobody waits for it any more");
    };
    try {
      return answered(work, is_wanted ? std::function<void()>(look) : nullptr);
    } catch (const daemon::ReplyError&) {
      throw;
    } catch (const Error& error) {
      session.hang_up();
      if (error.code() == ErrorCode::kCancelled) throw;
    }
    return answered(work, is_wanted ? std::function<void()>(look) : nullptr);
  }

  // What is asked, or will be, fails at once. Any thread.
  void end() {
    over_ = true;
    if (const int socket = waits_on_; socket >= 0) ::shutdown(socket, SHUT_RDWR);
  }

 private:
  struct Waiting {
    Line& line;
    ~Waiting() {
      line.waits_on_ = -1;
      line.session.look_about(nullptr);
    }
  };

  std::unique_lock<std::mutex> turn(const std::function<bool()>& is_wanted) {
    std::unique_lock guard(mutex, std::defer_lock);
    if (!is_wanted) {
      guard.lock();
      return guard;
    }
    while (!guard.try_lock()) {
      if (over_ || !is_wanted()) throw Error(ErrorCode::kCancelled, "nobody waits for it any more");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return guard;
  }

  template <class Work>
  auto answered(const Work& work, std::function<void()> look) {
    waits_on_ = session.client().descriptor();
    const Waiting waiting{*this};
    session.look_about(std::move(look));
    if (over_) throw Error(ErrorCode::kCancelled, "the review has ended");
    return work();
  }

  std::atomic<int> waits_on_ = -1;  // the connection, while moild is asked
  std::atomic<bool> over_ = false;
};

}  // namespace moil::review
