#include "daemon/process/spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "daemon/process/work_group.h"

extern char** environ;

namespace moil::daemon {
namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& text : strings) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> merged_environment(const std::vector<std::string>& added) {
  std::vector<std::string> out = added;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('=') + 1);
    const bool replaced = std::any_of(added.begin(), added.end(),
                                      [&](const std::string& a) { return a.starts_with(name); });
    // The worker is not the service: it must not speak to systemd in the daemon's name.
    if (!replaced && name != "NOTIFY_SOCKET=" && name != "WATCHDOG_USEC=") out.push_back(text);
  }
  return out;
}

// ioprio_set(2)'s, defined here: the kernel's header of Linux 6.1.192 is no C++.
constexpr int kOfGroup = 2, kBestEffortClass = 2, kIdleClass = 3, kClassShift = 13;
constexpr int kLeastOfClass = 7;

int io_priority(IoClass io_class) {
  switch (io_class) {
    case IoClass::kIdle:
      return kIdleClass << kClassShift;
    case IoClass::kBestEffort:
      return kBestEffortClass << kClassShift | kLeastOfClass;
    case IoClass::kNone:
      return 0;
  }
  return 0;
}

struct Prepared {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  const ProcessOptions& options;
  int output, errors;
  int failure;  // written to if exec fails
  int group;    // the file of a control group (work_group.h)
  pid_t parent;
};

// In the child of a program with threads: async-signal-safe calls alone, no allocation.
[[noreturn]] void run_child(const Prepared& p) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != p.parent) ::_exit(1);  // the daemon died in between
  ::setpgid(0, 0);                          // Ctrl-C reaches the daemon alone, which stops us well
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  // Before anything is allocated, so that all of it is counted there.
  [[maybe_unused]] const ssize_t entered = p.group >= 0 ? ::write(p.group, "0", 1) : 0;
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  ::dup2(p.output, STDOUT_FILENO);
  if (p.errors >= 0) ::dup2(p.errors, STDERR_FILENO);
  ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  for (const int fd : p.options.keep_open) ::fcntl(fd, F_SETFD, 0);
  ::execve(p.arguments[0], p.arguments.data(), p.environment.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t n = ::write(p.failure, &error, sizeof error);
  ::_exit(127);
}

// After its exec: the loop waits for that, and a busy machine lets a nice child wait long. All
// threads of its group, for it may have begun some.
void lower_priority(pid_t group, const ProcessOptions& options) {
  ::setpriority(PRIO_PGRP, static_cast<id_t>(group), options.nice);
  if (options.io_class != IoClass::kNone)
    ::syscall(SYS_ioprio_set, kOfGroup, group, io_priority(options.io_class));
}

}  // namespace

int spawn_process(const ProcessOptions& options, int output, int errors) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) throw system_error("cannot create a pipe", errno);
  const UniqueFd failure_read(pipe[0]);
  UniqueFd failure_write(pipe[1]);
  std::vector<std::string> arguments = options.arguments;
  std::vector<std::string> environment = merged_environment(options.environment);
  const Prepared prepared{
      pointers(arguments), pointers(environment), options, output, errors, pipe[1], work_group(),
      ::getpid()};
  const pid_t pid = ::fork();
  if (pid == 0) run_child(prepared);
  if (pid < 0) throw system_error("cannot start the worker", errno);

  failure_write.reset();
  int error = 0;
  if (::read(failure_read.get(), &error, sizeof error) == sizeof error) {
    ::waitpid(pid, nullptr, 0);
    // Not kNotFound if the program is missing: that would be taken for something of the job's.
    throw Error(ErrorCode::kIo, system_error("cannot start " + options.arguments[0], error).what());
  }
  lower_priority(pid, options);
  return pid;
}

}  // namespace moil::daemon
