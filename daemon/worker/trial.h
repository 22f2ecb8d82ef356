// moil-worker try: whether strangers' samples can be decoded, before they are kept. Any thread.
#pragma once

#include <vector>

#include "daemon/worker/preview.h"

namespace moil::worker {

// For each sample {}, or {"error": {"code", "message"}} if it cannot be decoded; of a sound
// {"silent": the share of its first kMostShownSeconds that is softer than data::kSoundFloor}.
[[nodiscard]] Json tried(const std::vector<ReadSample>& samples);

}  // namespace moil::worker
