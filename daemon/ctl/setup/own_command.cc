#include "daemon/ctl/setup/own_command.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

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

}  // namespace

std::string shell_text(const Words& words) {
  std::string text = "moilctl";
  for (const std::string& word : words) text += " " + quoted_for_shell(word);
  return text;
}

int run_own(const Session& session, const Words& words) {
  std::string program = this_program();
  Words all{program, "--socket", session.socket};
  if (session.json) all.emplace_back("--json");
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error =
      ::posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ);
  if (error != 0) throw system_error("cannot start " + program, error);
  return status_of(child);
}

}  // namespace moil::daemon::ctl
