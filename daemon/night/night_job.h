// One night's job from its file to a new model version: mix, cache, distill, imprint, train, judge,
// promote.
//
// Every stage can be killed at any moment; running the job again goes on from what the stage before
// left in the job's folder and ends in the same weights. Runs in the worker process, one a process.
#pragma once

#include <atomic>

#include "daemon/spec/state_layout.h"
#include "daemon/spec/worker_protocol.h"

namespace moil::night {

// Removes what stands in the way of the cache's folder; before the process is confined to the
// folder itself.
void make_place_for_cache(const daemon::StateLayout& layout, daemon::EventWriter& events);

// True if the job is done and its result is in its folder (job_result.h), false if `stop` was
// set and it can be resumed. Throws moil::Error; what is final and what is worth another attempt,
// worker_protocol.h says.
[[nodiscard]] bool run_night(const daemon::StateLayout& layout, const daemon::JobFile& file,
                             daemon::EventWriter& events, const std::atomic<bool>& stop);

}  // namespace moil::night
