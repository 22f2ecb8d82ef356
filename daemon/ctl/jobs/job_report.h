// A finished job on the terminal: how it ended, what it trained, what that took.
#pragma once

#include "daemon/ctl/console.h"
#include "daemon/json/fields.h"

namespace moil::daemon::ctl {

// job: as job.get has it, with a result. Figures that the result lacks are left out.
void print_job_report(Console& console, const Json& job);
// Only the samples that the night did without, by name, and those of no kind that the model
// reads; nothing if there are none.
void print_left_out(Console& console, const Json& job);

}  // namespace moil::daemon::ctl
