// A program in a process of its own, with what it wrote.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files/unique_fd.h"

namespace moil::daemon::test {

struct Finished {
  int status = -1;  // the exit status, or minus the signal
  std::string out;
  std::string err;
};

// Programs see a made-up device: a folder that is empty until a test writes its proc and sys there,
// and never the machine on which the tests run.

// Runs to the end, with NAME=value settings added to the environment.
Finished run_program(std::vector<std::string> arguments,
                     const std::vector<std::string>& settings = {});

// The same at a terminal of its own, on which `typed` was typed before. `out` is what the terminal
// shows: both outputs.
Finished run_at_terminal(std::vector<std::string> arguments, const std::string& typed);

// A moild that serves `state` with the fake worker; killed (-9) at the end of its life.
class MoildProcess {
 public:
  // Waits until it listens; `config` is the text of a moild.json.
  MoildProcess(const std::filesystem::path& state, const std::string& config);
  ~MoildProcess();
  MoildProcess(const MoildProcess&) = delete;
  MoildProcess& operator=(const MoildProcess&) = delete;

  const std::filesystem::path& socket() const { return socket_; }
  // Where the daemon finds proc and sys; may be filled before it is started.
  static std::filesystem::path device_of(const std::filesystem::path& state);
  int pid() const { return pid_; }
  std::string log() const;
  void kill_hard();  // SIGKILL, and waits
  int stop();        // SIGTERM; the exit status

 private:
  int wait();
  std::filesystem::path state_;
  std::filesystem::path socket_;
  int pid_ = -1;
};

// Settings with the fake worker that are quick enough for tests.
std::string quick_settings();

}  // namespace moil::daemon::test
