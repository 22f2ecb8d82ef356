// moilctl status in one screen: rows of what system.status and system.overview say. Pure functions;
// safe from any thread.
#pragma once

#include <string>

#include "daemon/ctl/console.h"
#include "daemon/json/fields.h"

namespace moil::daemon::ctl {

// "job 12 personalized kitchen: local 71.0% -> 88.0%, global 93.0% -> 93.0%, 42 min 00 s; in
// service as version 7", of a night as system.overview has it.
std::string night_sentence(const Json& night);

// overview: null if the daemon is older than it.
Rows status_rows(const Json& status, const Json& overview);

}  // namespace moil::daemon::ctl
