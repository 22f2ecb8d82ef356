// Commands of moilctl that another one is made of: shown as a user would type them, and run so.
#pragma once

#include <string>
#include <vector>

#include "daemon/ctl/command.h"

namespace moil::daemon::ctl {

using Words = std::vector<std::string>;  // without the program's name

// "moilctl label import '/home/anna/my photos'", for a shell.
[[nodiscard]] std::string shell_text(const Words& words);
// Runs moilctl with the words, the session's socket and its --json; the terminal is the same. Its
// exit status; 128 and the signal if one ended it.
int run_own(const Session& session, const Words& words);

}  // namespace moil::daemon::ctl
