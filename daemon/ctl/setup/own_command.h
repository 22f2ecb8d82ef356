// Commands that another one is made of: shown as a user would type them, and run so.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "daemon/ctl/command.h"

namespace moil::daemon::ctl {

using Words = std::vector<std::string>;  // a program of moild's, and what follows its name

// "moilctl label import '/home/anna/my photos'", for a shell.
[[nodiscard]] std::string shell_text(const Words& words);
// Runs the program that lies beside this one; the terminal is the same. moilctl gets the session's
// socket and its --json; with --json, others print to the standard error. Its exit status; 128 and
// the signal if one ended it.
int run_own(const Session& session, const Words& words);

// A new folder, this user's alone, in which one command leaves files to the next; goes with its
// content. kIo if it cannot be made.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  const std::filesystem::path path_;
};

}  // namespace moil::daemon::ctl
