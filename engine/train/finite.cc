#include "engine/train/finite.h"

#include <cmath>

#include "engine/train/clip.h"

namespace moil {

// Gathered in double, which the square of no finite float leaves.
bool all_finite(const float* values, std::int64_t count) {
  const GradientView view{values, count};
  return std::isfinite(global_norm({&view, 1}));
}

std::optional<std::string> not_finite(const WeightMap& weights) {
  for (const auto& [name, tensor] : weights) {
    if (!all_finite(tensor.data.data(), static_cast<std::int64_t>(tensor.data.size()))) return name;
  }
  return std::nullopt;
}

}  // namespace moil
