#include "daemon/loop/outside_calls.h"

#include <mutex>
#include <string>
#include <system_error>
#include <thread>

namespace moil::daemon {
namespace {

// Calls that hang: of one user, of all users, and beside them of the daemon itself.
constexpr std::size_t kMostOfUser = 16, kMostOfUsers = 64, kMostOfOurs = 32;

std::string seconds_text(std::chrono::milliseconds time) {
  const std::string text = std::to_string(std::chrono::duration<double>(time).count());
  return text.substr(0, text.find('.') + 2) + " s";
}

}  // namespace

struct OutsideCalls::Shared {
  std::mutex mutex;
  OutsideCalls* owner = nullptr;  // guarded by mutex; null once it is gone
  // Threads, guarded by mutex.
  std::map<std::optional<uid_t>, std::size_t> of;  // a user, or of the daemon itself
  std::size_t of_users = 0;

  void check_room(std::optional<uid_t> user) {
    const std::size_t own = of[user];
    const bool is_full = user ? own >= kMostOfUser || of_users >= kMostOfUsers : own >= kMostOfOurs;
    if (!is_full) return;
    throw Error(ErrorCode::kResourceExhausted,
                "too many files do not yield their content; a disk or network drive of this "
                "device hangs");
  }
  void begin(std::optional<uid_t> user) {
    ++of[user];
    of_users += user ? 1 : 0;
  }
  void end(std::optional<uid_t> user) {
    if (--of[user] == 0) of.erase(user);
    of_users -= user ? 1 : 0;
  }
};

OutsideCalls::OutsideCalls(EventLoop& loop, std::chrono::milliseconds patience)
    : loop_(loop), patience_(patience), shared_(std::make_shared<Shared>()) {
  shared_->owner = this;
}

OutsideCalls::~OutsideCalls() {
  for (const auto& [call, waiting] : waiting_) loop_.cancel(waiting.timer);
  const std::lock_guard lock(shared_->mutex);
  shared_->owner = nullptr;
}

void OutsideCalls::run(std::function<void()> work, Outcome outcome, std::optional<uid_t> user) {
  const std::uint64_t call = next_++;
  start_thread(call, std::move(work), user);
  const auto timer = loop_.after(patience_, [this, call] { give_up(call); });
  waiting_.emplace(call, Waiting{std::move(outcome), timer});
}

void OutsideCalls::start_thread(std::uint64_t call, std::function<void()> work,
                                std::optional<uid_t> user) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->check_room(user);
    shared_->begin(user);
  }
  try {
    std::thread(&run_thread, shared_, call, std::move(work), user).detach();
  } catch (const std::system_error& error) {
    const std::lock_guard lock(shared_->mutex);
    shared_->end(user);
    throw system_error("cannot start a thread", error.code().value());
  }
}

void OutsideCalls::run_thread(const std::shared_ptr<Shared>& shared, std::uint64_t call,
                              const std::function<void()>& work, std::optional<uid_t> user) {
  std::exception_ptr error;
  try {
    work();
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(shared->mutex);
  shared->end(user);
  if (shared->owner == nullptr) return;
  // The owner cannot go before the lock is free, nor its loop before the owner.
  shared->owner->loop_.post([shared, call, error] {
    if (shared->owner != nullptr) shared->owner->ended(call, error);
  });
}

void OutsideCalls::ended(std::uint64_t call, const std::exception_ptr& error) {
  const auto found = waiting_.extract(call);
  if (found.empty()) return;  // given up before
  loop_.cancel(found.mapped().timer);
  if (error) return found.mapped().outcome.failed(error);
  found.mapped().outcome.done();
}

void OutsideCalls::give_up(std::uint64_t call) {
  ended(call,
        std::make_exception_ptr(GaveUp("its disk or network drive did not answer within " +
                                       seconds_text(patience_) + "; see whether it is there")));
}

}  // namespace moil::daemon
