#include "daemon/ctl/setup/own_command.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/error.h"
#include "base/this_program.h"

namespace moil::daemon::ctl {
namespace {

constexpr const char* kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,";

std::string quoted_for_shell(const std::string& word) {
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

int status_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw system_error("cannot wait for a command", errno);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class SpawnActions {
 public:
  SpawnActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  void print_to_stderr() {
    ::posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
  }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// Nobody else may have made it: setup may run as root, and /tmp is everybody's.
std::filesystem::path new_folder() {
  std::string name = std::filesystem::temp_directory_path() / "moilctl-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw system_error("cannot make " + name, errno);
  return name;
}

}  // namespace

std::string shell_text(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + quoted_for_shell(word);
  return text;
}

int run_own(const Session& session, const Words& words) {
  const bool is_moilctl = words.at(0) == "moilctl";
  std::string program = this_program();
  if (!is_moilctl) program = std::filesystem::path(program).parent_path() / words[0];
  Words all{program};
  if (is_moilctl) all.insert(all.end(), {"--socket", session.socket});
  if (is_moilctl && session.json) all.emplace_back("--json");
  all.insert(all.end(), words.begin() + 1, words.end());
  std::vector<char*> arguments;
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  SpawnActions actions;
  if (!is_moilctl && session.json) actions.print_to_stderr();
  pid_t child = 0;
  const int error =
      ::posix_spawn(&child, program.c_str(), actions.get(), nullptr, arguments.data(), environ);
  if (error != 0) throw system_error("cannot start " + program, error);
  return status_of(child);
}

ScratchFolder::ScratchFolder() : path_(new_folder()) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace moil::daemon::ctl
