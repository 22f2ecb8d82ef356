// A program's command table as completion for shells. Pure functions; safe from any thread.
#pragma once

#include <string>

#include "daemon/manual/command_table.h"

namespace moil::manual {

std::string bash_completion(const Command& program);
std::string zsh_completion(const Command& program);
std::string fish_completion(const Command& program);

}  // namespace moil::manual
