#include "engine/elastic/pace.h"

#include <algorithm>

namespace moil {
namespace {

// Of a full step: a step that trains everything would need the memory of full training, too.
constexpr double kMostOfAStep = 0.9;
// Of what rho allows beyond the smallest step: what the last intervals keep, to train more than one
// tensor.
constexpr double kKept = 0.1;

}  // namespace

double share_of_interval(Pace pace, double speedup_ratio, const PaceLeast& least,
                         const PaceSoFar& so_far, std::int64_t epochs, std::int64_t total_epochs) {
  if (pace == Pace::kEven) return speedup_ratio;
  const double kept = std::min(speedup_ratio, least.share + kKept * (speedup_ratio - least.share));
  const double most = std::max(speedup_ratio, kMostOfAStep);
  const auto after = static_cast<double>(total_epochs - so_far.epochs - epochs);
  const auto here = static_cast<double>(epochs);
  const double left =
      speedup_ratio * static_cast<double>(total_epochs) - so_far.used - kept * after;
  // Needed once: by an interval that follows, or where there is no more for it, by this one.
  const double once = after > 0 ? least.once : 0;
  const double floor = std::max(kept, std::min(kept + least.once / here, left / here));
  return std::clamp((left - once) / here, floor, std::max(most, floor));
}

}  // namespace moil
