// The weights that a graph needs, and those of its parts.
//
// Pure functions; thread-safe.
#pragma once

#include "engine/model/graph.h"

namespace moil {

// Those of `all` that a part of a model owns, as a slice of it does.
[[nodiscard]] WeightMap weights_of(const ModelDescription& part, const WeightMap& all);
// The same, which `all` has no longer.
[[nodiscard]] WeightMap take_weights_of(const ModelDescription& part, WeightMap& all);

// Whether a layer has a weight that another layer has, too.
[[nodiscard]] bool shares_weights(const ModelDescription& model, const std::string& layer);

// kBadData listing what is missing, unknown or of other dims.
void check_weights(const Graph& graph, const WeightMap& weights);

}  // namespace moil
