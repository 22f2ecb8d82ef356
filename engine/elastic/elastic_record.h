// What an elastic run chose, and by which profiles, as JSON: what a checkpoint keeps of it, and
// what a report is made from.
//
// Pure functions; safe from any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/elastic/elastic_interval.h"
#include "engine/elastic/profiles_in_force.h"

namespace moil {

[[nodiscard]] nlohmann::json to_json(const ElasticInterval& interval);
[[nodiscard]] nlohmann::json to_json(const ProfileInForce& profile);
// Throw kBadData where it is not what to_json() wrote.
[[nodiscard]] ElasticInterval elastic_interval_from_json(const nlohmann::json& json);
[[nodiscard]] ProfileInForce profile_in_force_from_json(const nlohmann::json& json);

}  // namespace moil
