// The nights of a model up to a job's, for who shows how it went over time.
#pragma once

#include "daemon/ctl/command.h"

namespace moil::daemon::ctl {

// As many as moild still knows, 60 at most, the oldest first, the job's own last: [{"job", "at",
// "kept_back", "local", "global"}]: the quality of the model that was in service after each night,
// null if it was not measured. Nights of another metric than the job's are left out.
[[nodiscard]] Json fetch_nights(Session& session, const Json& job);

// One of them, of a job as job.list has it; null if it tells nothing.
[[nodiscard]] Json night_of(const Json& job, const Json& metric);

}  // namespace moil::daemon::ctl
