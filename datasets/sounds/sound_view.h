// Views: the ways in which one patch of a sound is shown to a network, so that it learns what does
// not matter: when exactly the patch begins, how loud it is, what hums and hisses behind it, and
// (SpecAugment, Park et al. 2019) that no single band and no single moment tells all.
//
// Views have numbers, and a sample's view of a number is always the same, so that what a frozen
// network makes of it can be kept. Plain values, free functions: safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "datasets/identity/digest.h"
#include "datasets/sounds/front_end.h"

namespace moil::data {

struct SoundView {
  double shift = 0;                       // of half a patch hop, -1 to 1: where the patch begins
  double gain = 1;                        // a factor
  std::optional<double> signal_to_noise;  // dB, of the patch; none: nothing is mixed in
  std::uint64_t noise_seed = 0;
  double noise_colour = 0;  // 0: white; up to below 1: the more of it is low
  struct Mask {
    double begin = 0, size = 0;  // of all frames or bands, 0 to 1
    bool operator==(const Mask&) const = default;
  };
  Mask frames, bands;
  bool operator==(const SoundView&) const = default;
};

// The view of this number that the part of the sample has: a function of its arguments alone. 0:
// the plain one. Others: begins up to half a patch hop earlier or later; 6 dB louder or softer;
// every other one with noise 5 to 30 dB below it; up to an eighth of the frames and of the bands
// masked.
[[nodiscard]] SoundView sound_view_of(const Digest& sample, std::uint16_t number,
                                      std::uint32_t part);

struct NoiseSource {
  std::uint64_t seed = 0;
  double colour = 0;  // as SoundView's
};
// Noise whose mean square is strength * strength, whatever its colour.
void add_noise(const NoiseSource& source, double strength, std::span<float> samples);

// What a patch is made of: loudness and noise. Values stay within -1 and 1, or as far beyond as the
// patch is.
void disturb(const SoundView& view, std::span<float> samples);
// What it became: what is masked gets the mean of the patch, differences in time become 0.
void mask(const SoundView& view, const FrontEndDescription& description, std::span<float> patch);

}  // namespace moil::data
