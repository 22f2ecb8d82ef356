// Following a job to its end on the terminal.
#pragma once

#include "daemon/ctl/command.h"

namespace moil::daemon::ctl {

// Watches until the job is finished. With --json every message is printed as one line, the
// finished job (the reply of job.get) last. The exit status: EX_OK if the job succeeded,
// EX_DATAERR if the guard kept the model back, EX_SOFTWARE if it failed, EX_TEMPFAIL if it
// was cancelled.
int watch_job(Session& session, std::int64_t id);

// A finished job in a few lines.
void print_result(Console& console, const Json& job);

}  // namespace moil::daemon::ctl
