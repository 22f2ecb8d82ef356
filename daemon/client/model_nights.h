// The nights of a model, for who shows how it went over time.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/client/session.h"

namespace moil::daemon {

// Whose nights are asked for: of a metric alone, for one line has one scale.
struct NightsAsked {
  std::string model;
  std::string metric = {};     // empty: the last night's
  std::int64_t last_job = -1;  // no later ones; below 0: all
};

// As many as moild still knows, 60 at most, the oldest first: [{"job", "at", "kept_back", "local",
// "global", "before", "metric", "is_fraction"}]. local and global: the quality of the model that
// was in service after the night, null if it was not measured; before: local before it.
[[nodiscard]] Json fetch_nights(ClientSession& session, const NightsAsked& asked);

// One of them, of a job as job.list has it; null if it tells nothing of this metric (empty: of
// any).
[[nodiscard]] Json night_of(const Json& job, const std::string& metric = {});

}  // namespace moil::daemon
