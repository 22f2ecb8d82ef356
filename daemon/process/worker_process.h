// A child process with its stdout as lines. A line longer than kMostLineBytes is skipped: whatever
// a child writes, it costs the daemon no more than that, and the child nothing.
//
// The child dies with the daemon (PR_SET_PDEATHSIG), gets /dev/null as stdin, the daemon's stderr
// unless its lines are asked for, its own nice and I/O class, and no descriptor but those asked
// for. Loop thread only; the loop's thread must outlive the child, for its end is what PDEATHSIG
// watches.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/loop/event_loop.h"
#include "daemon/process/pipe_lines.h"

namespace moil::daemon {

enum class IoClass { kNone, kBestEffort, kIdle };

struct ProcessOptions {
  std::vector<std::string> arguments;    // [0] is the program's path
  std::vector<std::string> environment;  // NAME=value, added to or replacing the daemon's own
  int nice = 0;
  IoClass io_class = IoClass::kNone;
  std::vector<int> keep_open;  // descriptors that the child inherits
};

struct ProcessExit {
  std::optional<int> code;
  std::optional<int> signal;
  std::string text() const;  // "exited with status 3", "was killed by signal 9 (Killed)"
};

class WorkerProcess {
 public:
  using OnLine = std::function<void(const std::string& line)>;
  using OnExit = std::function<void(const ProcessExit&)>;  // may destroy the WorkerProcess

  // kIo if it cannot be started. Every line comes before the exit. on_error_line: of its stderr;
  // empty: that is ours.
  WorkerProcess(EventLoop& loop, const ProcessOptions& options, OnLine on_line, OnExit on_exit,
                OnLine on_error_line = {});
  // Kills; waits for its end until kMostDying after it was killed, now or before: if a disk
  // holds several up, they are waited for together.
  ~WorkerProcess();
  static constexpr std::chrono::milliseconds kMostDying{2000};
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  int pid() const { return pid_; }
  // SIGTERM now, SIGKILL after the grace.
  void stop(std::chrono::milliseconds grace);
  void kill();  // at once; its end comes as any

 private:
  void spawn(const ProcessOptions& options);
  void on_death();

  EventLoop& loop_;
  OnExit on_exit_;
  int pid_ = -1;
  std::optional<std::chrono::steady_clock::time_point> killed_at_;
  UniqueFd pidfd_;
  PipeLines output_;
  PipeLines errors_;
  EventLoop::TimerId kill_timer_ = 0;
};

}  // namespace moil::daemon
