#include "daemon/process/worker_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "daemon/process/spawn.h"
#include "daemon/worker_protocol.h"

namespace moil::daemon {

std::string ProcessExit::text() const {
  if (code) return "exited with status " + std::to_string(*code);
  const int number = signal.value_or(0);
  return "was killed by signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
}

WorkerProcess::WorkerProcess(EventLoop& loop, const ProcessOptions& options, OnLine on_line,
                             OnExit on_exit)
    : loop_(loop), on_line_(std::move(on_line)), on_exit_(std::move(on_exit)) {
  spawn(options);
  try {
    loop_.watch(output_.get(), EPOLLIN, [this](std::uint32_t) {
      if (read_output() == Output::kEnded) loop_.unwatch(output_.get());
    });
    loop_.watch(pidfd_.get(), EPOLLIN, [this](std::uint32_t) { on_death(); });
  } catch (...) {  // a worker that nobody watches would work beside the next one
    loop_.unwatch(output_.get());
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    throw;
  }
}

WorkerProcess::~WorkerProcess() {
  loop_.cancel(kill_timer_);
  if (output_) loop_.unwatch(output_.get());
  if (pidfd_) loop_.unwatch(pidfd_.get());
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void WorkerProcess::spawn(const ProcessOptions& options) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) throw system_error("cannot create a pipe", errno);
  output_ = UniqueFd(pipe[0]);
  const UniqueFd child_end(pipe[1]);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  pid_ = spawn_process(options, child_end.get());
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
    spdlog::warn("the worker did not stop in time: killed");
    if (pid_ >= 0) ::kill(pid_, SIGKILL);
  });
}

WorkerProcess::Output WorkerProcess::read_output() {
  char chunk[1 << 16];
  ssize_t n = 0;
  do {
    n = ::read(output_.get(), chunk, sizeof chunk);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return errno == EAGAIN ? Output::kNoneYet : Output::kEnded;
  if (n == 0) return Output::kEnded;
  buffer_.append(chunk, static_cast<std::size_t>(n));
  take_lines();
  return Output::kRead;
}

void WorkerProcess::take_lines() {
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = buffer_.find('\n', begin)) != std::string::npos;) {
    const bool fits = !std::exchange(skipping_, false) && end - begin < kMostLineBytes;
    if (fits) on_line_(buffer_.substr(begin, end - begin));
    begin = end + 1;
  }
  buffer_.erase(0, begin);
  if (buffer_.size() < kMostLineBytes) return;
  if (!skipping_)
    spdlog::error("the worker wrote a line of more than {} bytes: skipped", kMostLineBytes);
  skipping_ = true;
  buffer_.clear();
}

void WorkerProcess::on_death() {
  while (read_output() == Output::kRead) {
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  loop_.unwatch(pidfd_.get());
  loop_.unwatch(output_.get());
  loop_.cancel(kill_timer_);
  ProcessExit exit;
  if (WIFEXITED(status)) exit.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) exit.signal = WTERMSIG(status);
  const OnExit on_exit = std::move(on_exit_);
  on_exit(exit);  // `this` may be gone from here on
}

}  // namespace moil::daemon
