// A timing profile as JSON, for checkpoints and for the state folder: measured once, it serves
// until the model, its trained layers or the machine change.
//
// Pure functions; safe from any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/elastic/timing_profile.h"

namespace moil {

// Layers from the input to the output; seconds, exactly as they are.
[[nodiscard]] nlohmann::json to_json(const TimingProfile& profile);
[[nodiscard]] nlohmann::json to_json(const std::vector<BackwardTiming>& backward);
// Throws kBadData where it is not what to_json() wrote.
[[nodiscard]] TimingProfile timing_profile_from_json(const nlohmann::json& json);

}  // namespace moil
