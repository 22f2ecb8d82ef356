// Where a version comes from, as it is kept with it when it is promoted: which job made it of what
// data and with which settings, by which build. It outlives the job. Pure; any thread.
#pragma once

#include "daemon/state/job.h"
#include "daemon/state/model_store.h"

namespace moil::daemon {

// result: the whole of it, with its details.
[[nodiscard]] Provenance provenance_of(const Job& job, const Json& result);

}  // namespace moil::daemon
