// Weights that nothing has trained yet.
//
// Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "engine/model/graph.h"

namespace moil {

// Fresh weights for every layer, a function of (seed, weight names) alone.
[[nodiscard]] WeightMap initial_weights(const Graph& graph, std::uint64_t seed);
// One of them by its full name ("LAYER.WEIGHT"), for load_each().
[[nodiscard]] NamedTensor initial_weight(const WeightSpec& spec, const std::string& name,
                                         std::uint64_t seed);

}  // namespace moil
