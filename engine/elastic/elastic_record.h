// What an elastic run chose and how long it took, as JSON: what a checkpoint keeps of it, and what
// a report is made from; and timing profiles, for the state folder too.
//
// Pure functions; safe from any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/elastic/elastic_interval.h"
#include "engine/elastic/timing_profile.h"

namespace moil {

[[nodiscard]] nlohmann::json record_of(const ElasticInterval& interval);
[[nodiscard]] nlohmann::json record_of(const ProfileInForce& profile);
// Throw kBadData if it is not what record_of() gave.
[[nodiscard]] ElasticInterval interval_of(const nlohmann::json& record);
[[nodiscard]] ProfileInForce profile_of(const nlohmann::json& record);

}  // namespace moil
