#include "engine/elastic/pace.h"

#include <algorithm>
#include <cmath>

namespace moil {
namespace {

// The most of a full step: one that trains everything would need the memory of full training, too.
constexpr double kMostOfAStep = 0.9;
// What the last epochs keep of what rho allows beyond the smallest step, to train more than one
// tensor.
constexpr double kKept = 0.1;
// Epochs of an interval for which something is computed once.
constexpr std::int64_t kLastEpochs = 3;

double most_share(double speedup_ratio) { return std::max(speedup_ratio, kMostOfAStep); }

double kept_share(double speedup_ratio, const PaceLeast& least) {
  return std::min(speedup_ratio, least.share + kKept * (speedup_ratio - least.share));
}

double time_left(double speedup_ratio, const PaceSoFar& so_far) {
  return speedup_ratio * static_cast<double>(so_far.total_epochs) - so_far.used;
}

}  // namespace

std::int64_t epochs_of_interval(Pace pace, double speedup_ratio, const PaceLeast& least,
                                const PaceSoFar& so_far, std::int64_t interval_epochs) {
  const std::int64_t rest = so_far.total_epochs - so_far.epochs;
  const std::int64_t usual = std::min(interval_epochs, rest);
  if (pace == Pace::kEven) return usual;
  const double kept = kept_share(speedup_ratio, least), most = most_share(speedup_ratio);
  if (kept >= most) return usual;
  const double long_epochs =
      (time_left(speedup_ratio, so_far) - least.once - kept * static_cast<double>(rest)) /
      (most - kept);
  if (long_epochs >= static_cast<double>(usual)) return usual;
  const auto rounded = static_cast<std::int64_t>(std::lround(std::max(0.0, long_epochs)));
  return rounded > 0 ? std::min(rounded, usual) : std::min(rest, std::max(usual, kLastEpochs));
}

double share_of_interval(Pace pace, double speedup_ratio, const PaceLeast& least,
                         const PaceSoFar& so_far, std::int64_t epochs) {
  if (pace == Pace::kEven) return speedup_ratio;
  const double kept = kept_share(speedup_ratio, least), most = most_share(speedup_ratio);
  const auto after = static_cast<double>(so_far.total_epochs - so_far.epochs - epochs);
  const auto here = static_cast<double>(epochs);
  const double left = time_left(speedup_ratio, so_far) - kept * after;
  // Needed once: by an interval that follows, or if there is no more for it, by this one.
  const double once = after > 0 ? least.once : 0;
  const double floor = std::max(kept, std::min(kept + least.once / here, left / here));
  return std::clamp((left - once) / here, floor, std::max(most, floor));
}

}  // namespace moil
