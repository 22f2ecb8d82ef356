#include "engine/train/finite.h"

#include <cmath>

#include "base/error.h"
#include "engine/train/clip.h"

namespace moil {

// Gathered in double, which the square of no finite float leaves.
bool all_finite(const float* values, std::int64_t count) {
  const GradientView view{values, count};
  return std::isfinite(global_norm({&view, 1}));
}

void throw_diverged(const std::string& what, std::int64_t step) {
  throw Error(ErrorCode::kFailedPrecondition,
              "training diverged: " + what + " is not finite after step " + std::to_string(step) +
                  "; a smaller learning_rate, or clip_norm, may help");
}

}  // namespace moil
