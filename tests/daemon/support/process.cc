#include "tests/daemon/support/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "daemon/rpc/address.h"
#include "tests/daemon/support/test_server.h"

extern char** environ;
namespace fs = std::filesystem;

namespace moil::daemon::test {
namespace {

std::string slurp(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

int start(std::vector<std::string> arguments, std::vector<std::string> settings,
          const fs::path& out, const fs::path& err) {
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::vector<char*> environment;
  for (auto& setting : settings) environment.push_back(setting.data());
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw system_error("cannot start " + arguments[0], error);
  return pid;
}

int status_of(int pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

Finished run_program(std::vector<std::string> arguments, const std::vector<std::string>& settings) {
  const TempFolder folder;
  std::vector<std::string> all = settings;  // what comes first counts
  all.push_back("MOIL_DEVICE_ROOT=" + (folder / "device").string());
  const int pid = start(std::move(arguments), all, folder / "out", folder / "err");
  Finished finished;
  finished.status = status_of(pid);
  finished.out = slurp(folder / "out");
  finished.err = slurp(folder / "err");
  return finished;
}

Finished run_at_terminal(std::vector<std::string> arguments, const std::string& typed) {
  int terminal = -1;
  const int pid = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (pid == 0) {
    std::vector<char*> words;
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  EXPECT_EQ(::write(terminal, typed.data(), typed.size()), static_cast<ssize_t>(typed.size()));
  Finished finished;
  char chunk[4096];
  for (ssize_t n = 0; (n = ::read(terminal, chunk, sizeof chunk)) > 0;)  // until its end is closed
    finished.out.append(chunk, static_cast<std::size_t>(n));
  finished.status = status_of(pid);
  ::close(terminal);
  return finished;
}

std::string quick_settings() {
  return R"({"worker": {"path": ")" FAKE_WORKER R"(", "nice": 0, "threads": 1,
             "backoff_seconds": 0.01, "stop_seconds": 5},
             "window": {"start": "00:00", "end": "00:00"},
             "poll_seconds": 0.02})";
}

MoildProcess::MoildProcess(const fs::path& given, const std::string& config)
    : state_(given.has_filename() ? given : given.parent_path()), socket_(state_) {
  const fs::path& state = state_;
  socket_ += ".sock";
  fs::create_directories(state.parent_path());
  const fs::path settings = state.string() + ".json";
  std::ofstream(settings) << config;
  pid_ = start({MOILD, "--foreground", "--state-dir", state.string(), "--socket", socket_.string(),
                "--config", settings.string()},
               {"MOIL_DEVICE_ROOT=" + device_of(state).string()}, state.string() + ".out",
               state.string() + ".log");
  EXPECT_TRUE(eventually([&] { return is_listening(socket_); })) << slurp(state.string() + ".log");
}

fs::path MoildProcess::device_of(const fs::path& state) { return state.string() + ".device"; }

MoildProcess::~MoildProcess() { kill_hard(); }

std::string MoildProcess::log() const { return slurp(state_.string() + ".log"); }

void MoildProcess::kill_hard() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  wait();
}

int MoildProcess::stop() {
  ::kill(pid_, SIGTERM);
  return wait();
}

int MoildProcess::wait() {
  const int status = status_of(pid_);
  pid_ = -1;
  return status;
}

}  // namespace moil::daemon::test
