// A program's command table as pages for people. Pure functions; safe from any thread.
#pragma once

#include <string>

#include "daemon/manual/command_table.h"

namespace moil::manual {

// The manual page (roff, for man) of a program in a section: 1 for users, 8 for administrators.
std::string man_page(const Command& program, int section);

// The page of docs/commands/.
std::string markdown_page(const Command& program);

}  // namespace moil::manual
