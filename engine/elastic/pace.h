// How the time of a run is shared among its intervals. Updates are worth most at the beginning,
// when the learning rate is high, and only a long step reaches the layers near the input.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>

namespace moil {

// kFront: as much as possible to the first epochs, a little to the others. kEven: the paper's.
enum class Pace : std::uint8_t { kFront, kEven };

// What was trained so far, and what is to be trained.
struct PaceSoFar {
  std::int64_t epochs = 0;
  double used = 0;  // the share of a full step that each epoch's steps took, summed over epochs
  std::int64_t total_epochs = 0;
};

// What the last epochs cannot do without.
struct PaceLeast {
  double share = 0;  // with which anything can be trained
  double once = 0;   // that all of them together need besides, as a share of an epoch
};

// How many epochs the next interval has, of interval_epochs that it usually has. Fewer if the
// time for long steps ends within it. More if there is none: what is computed once for the last
// epochs had better serve several.
[[nodiscard]] std::int64_t epochs_of_interval(Pace pace, double speedup_ratio,
                                              const PaceLeast& least, const PaceSoFar& so_far,
                                              std::int64_t interval_epochs);

// The share of a full step for the next interval, of so many epochs. All together take
// speedup_ratio · total_epochs if each takes what it is given.
[[nodiscard]] double share_of_interval(Pace pace, double speedup_ratio, const PaceLeast& least,
                                       const PaceSoFar& so_far, std::int64_t epochs);

}  // namespace moil
