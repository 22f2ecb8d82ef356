// The hidden option --manual FORMAT, which every program has: it prints what is made from the
// program's command table (man, markdown, bash, zsh, fish, json) and exits.
#pragma once

#include <map>
#include <string>

#include "base/command_line/command_line.h"

namespace moil::manual {

// `section` is that of the manual page. `elsewhere` replaces texts that depend on where this
// program lies by what they are in a package. `words`: options and positionals, by name, whose
// values the program itself tells a shell: "PROGRAM words KIND" prints them, one a line. Call it
// before the command line is parsed.
void add_manual(const cli::Command& program, int section = 1,
                const std::map<std::string, std::string>& elsewhere = {},
                const std::map<std::string, std::string>& words = {});

}  // namespace moil::manual
