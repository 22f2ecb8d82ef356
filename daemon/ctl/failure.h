// How moilctl says that something went wrong: a line on stderr for people, with --json the error
// object of the protocol in one line, whoever found the fault (the daemon, the command line, a
// file); and the exit status, from sysexits.
#pragma once

#include <exception>

#include "daemon/ctl/command.h"

namespace moil::daemon::ctl {

// What CLI11 found in the command line of `app`: a fault, or help or the version asked for, which
// go to stdout. Before the options have their values, so that --json is looked for in `app`.
int report_usage(const CLI::App& app, const CLI::ParseError& error);

// Anything that a command threw.
int report_failure(Session& session, const std::exception_ptr& error);

}  // namespace moil::daemon::ctl
