// Whether training still makes numbers: an infinity or a NaN in a weight never goes away again, and
// a ReLU may hide it from the loss.
//
// In parallel, and allocating nothing; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/graph/model_description.h"

namespace moil {

[[nodiscard]] bool all_finite(const float* values, std::int64_t count);

// The first tensor, by name, that holds an element which is not finite.
[[nodiscard]] std::optional<std::string> not_finite(const WeightMap& weights);

}  // namespace moil
