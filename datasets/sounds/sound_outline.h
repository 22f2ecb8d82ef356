// The outline of a recording: how far its samples swing, in stretches of equal length.
#pragma once

#include <cstddef>
#include <vector>

#include "datasets/sounds/sound_file.h"

namespace moil::data {

struct SoundOutline {
  struct Swing {
    float low = 0, high = 0;
  };
  std::vector<Swing> swings;  // in order
  double seconds = 0;         // that they are of
};

// Outlines the next `most_seconds` of the sound, in more than half of `most` swings and at most
// `most` (even); in fewer, 16 samples each, if there are not as many. Reads once, in memory for the
// swings.
[[nodiscard]] SoundOutline outline_of(SoundFile& sound, std::size_t most, double most_seconds);
// Which share of the swings is softer than this, in dB of full scale; 0 if there is none.
[[nodiscard]] double silent_share(const SoundOutline& outline, double floor_db);

}  // namespace moil::data
