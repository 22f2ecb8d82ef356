// What a new version hears in held-out recordings, as moilctl listen will: from which probability
// its labels are told follows from it (daemon/models/listening_levels.h).
#pragma once

#include <cstdint>
#include <functional>

#include "daemon/models/listening_levels.h"
#include "daemon/models/model_folder.h"
#include "daemon/night/data/origins.h"
#include "datasets/sampling/mix.h"

namespace moil::night {

// The result has the labels that local samples have, "something else" aside, if enough is held out.
// Local recordings are heard first, then the pack's, each side in an order that is drawn. A
// recording says nothing of a label if it is not known whether it has that. Ends when `version`
// has looked at as many parts as take some seconds, or at all. version: of a kind that streams and
// a task whose outputs are labels'; mix: of the night that made it. What cannot be read is passed
// over. progress: recordings that were heard, of all; may throw.
[[nodiscard]] ListeningLevels heard_peaks(
    ModelBundle version, const data::Mix& mix, const Origins& origins,
    const std::function<void(std::int64_t done, std::int64_t total)>& progress);

}  // namespace moil::night
