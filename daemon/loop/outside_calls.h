// Calls that reach outside the state folder, to files that clients name or send along: their disk
// or network may hang, and then the call does, for as long as it likes.
//
// Each call has a thread of its own, which nobody waits for: if it does not end in time, its
// caller is told so and the thread is left behind until the system lets go of it. What the call
// works on must be its own. Loop thread only.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "base/error.h"
#include "daemon/loop/event_loop.h"

namespace moil::daemon {

// kIo: a call that did not end in time.
class GaveUp : public Error {
 public:
  explicit GaveUp(const std::string& message) : Error(ErrorCode::kIo, message) {}
};

class OutsideCalls {
 public:
  OutsideCalls(EventLoop& loop, std::chrono::milliseconds patience);
  ~OutsideCalls();  // waits for no call; nobody is told any more
  OutsideCalls(const OutsideCalls&) = delete;
  OutsideCalls& operator=(const OutsideCalls&) = delete;

  using Failed = std::function<void(std::exception_ptr)>;

  // `work` runs on a thread of its own; then `done` or, with what it threw, `failed` on the loop.
  // `failed` with GaveUp if the time is over first. Throws, and calls nothing, if no thread
  // can be started, or too many calls hang already (kResourceExhausted): those of one user, of all
  // users, or the daemon's own (no user), which theirs leave alone.
  template <class Result>
  void start(std::function<Result()> work, std::function<void(Result)> done, Failed failed,
             std::optional<uid_t> user = {}) {
    const auto result = std::make_shared<std::optional<Result>>();
    run([result, work = std::move(work)] { result->emplace(work()); },
        {[result, done = std::move(done)] { done(std::move(**result)); }, std::move(failed)}, user);
  }

 private:
  struct Outcome {
    std::function<void()> done;
    Failed failed;
  };
  struct Shared;

  struct Waiting {
    Outcome outcome;
    EventLoop::TimerId timer;
  };

  void run(std::function<void()> work, Outcome outcome, std::optional<uid_t> user);
  void start_thread(std::uint64_t call, std::function<void()> work, std::optional<uid_t> user);
  static void run_thread(const std::shared_ptr<Shared>& shared, std::uint64_t call,
                         const std::function<void()>& work, std::optional<uid_t> user);
  void ended(std::uint64_t call, const std::exception_ptr& error);
  void give_up(std::uint64_t call);

  EventLoop& loop_;
  const std::chrono::milliseconds patience_;
  const std::shared_ptr<Shared> shared_;  // with the threads
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, Waiting> waiting_;
};

}  // namespace moil::daemon
