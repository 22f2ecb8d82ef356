#include "daemon/process/worker_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "daemon/log/log.h"
#include "daemon/process/spawn.h"

namespace moil::daemon {

std::string ProcessExit::text() const {
  if (code) return "exited with status " + std::to_string(*code);
  const int number = signal.value_or(0);
  return "was killed by signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
}

WorkerProcess::WorkerProcess(EventLoop& loop, const ProcessOptions& options, OnLine on_line,
                             OnExit on_exit, OnLine on_error_line)
    : loop_(loop),
      on_exit_(std::move(on_exit)),
      output_(loop, std::move(on_line)),
      errors_(loop, std::move(on_error_line)) {
  spawn(options);
  try {
    output_.watch();
    if (errors_.is_wanted()) errors_.watch();
    loop_.watch(pidfd_.get(), EPOLLIN, [this](std::uint32_t) { on_death(); });
  } catch (...) {  // a worker that nobody watches would work beside the next one
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    throw;
  }
}

WorkerProcess::~WorkerProcess() {
  loop_.cancel(kill_timer_);
  if (pidfd_) loop_.unwatch(pidfd_.get());
  if (pid_ < 0) return;
  kill();
  // Its end makes the pidfd readable. One that waits for a disk is left behind, as a zombie at
  // last.
  pollfd end{pidfd_.get(), POLLIN, 0};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*killed_at_ + kMostDying -
                                                                 std::chrono::steady_clock::now());
  if (::poll(&end, 1, static_cast<int>(std::max<std::int64_t>(0, left.count()))) > 0)
    ::waitpid(pid_, nullptr, 0);
}

void WorkerProcess::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  if (!killed_at_) killed_at_ = std::chrono::steady_clock::now();
}

void WorkerProcess::spawn(const ProcessOptions& options) {
  const UniqueFd output = output_.open();
  const UniqueFd errors = errors_.is_wanted() ? errors_.open() : UniqueFd();
  pid_ = spawn_process(options, output.get(), errors.get());
  pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (!pidfd_) {
    const int error = errno;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    throw system_error("cannot watch the worker", error);
  }
}

void WorkerProcess::stop(std::chrono::milliseconds grace) {
  if (pid_ < 0) return;
  ::kill(pid_, SIGTERM);
  loop_.cancel(kill_timer_);
  kill_timer_ = loop_.after(grace, [this] {
    log_warn("the worker did not stop in time: killed");
    kill();
  });
}

void WorkerProcess::on_death() {
  output_.finish();
  errors_.finish();
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  loop_.unwatch(pidfd_.get());
  loop_.cancel(kill_timer_);
  ProcessExit exit;
  if (WIFEXITED(status)) exit.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) exit.signal = WTERMSIG(status);
  const OnExit on_exit = std::move(on_exit_);
  on_exit(exit);  // `this` may be gone from here on
}

}  // namespace moil::daemon
