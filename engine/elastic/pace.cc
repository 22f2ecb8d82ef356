#include "engine/elastic/pace.h"

#include <algorithm>

namespace moil {
namespace {

// Of a full step: a step that trains everything would need the memory of full training, too.
constexpr double kMostOfAStep = 0.9;
// Of what rho allows beyond the smallest step: what the last intervals keep, to train more than one
// tensor.
constexpr double kKept = 0.2;

}  // namespace

double share_of_interval(Pace pace, double speedup_ratio, double smallest, const PaceSoFar& so_far,
                         std::int64_t epochs, std::int64_t total_epochs) {
  if (pace == Pace::kEven) return speedup_ratio;
  const double least = std::min(speedup_ratio, smallest + kKept * (speedup_ratio - smallest));
  const double most = std::max(speedup_ratio, kMostOfAStep);
  const auto after = static_cast<double>(total_epochs - so_far.epochs - epochs);
  const double left =
      speedup_ratio * static_cast<double>(total_epochs) - so_far.used - least * after;
  return std::clamp(left / static_cast<double>(epochs), least, most);
}

}  // namespace moil
