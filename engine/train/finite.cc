#include "engine/train/finite.h"

#include <cmath>

#include "engine/train/clip.h"

namespace moil {

// Gathered in double, which the square of no finite float leaves.
bool all_finite(const float* values, std::int64_t count) {
  const GradientView view{values, count};
  return std::isfinite(global_norm({&view, 1}));
}

}  // namespace moil
