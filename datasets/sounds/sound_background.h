// What lies around a sound in its patch: low noise, as any place has it.
//
// A recording that is shorter than a patch is shown in several places of one, over noise; so a
// network does not learn that a word begins where its patch does and has nothing around it. A patch
// without any signal is noise alone. Both are drawn by number: functions of their arguments alone.
// Safe from any thread.
#pragma once

#include <cstdint>
#include <span>

#include "datasets/identity/digest.h"

namespace moil::data {

// In how many places a short recording is shown, one part each: as many as a model that tells
// places apart needs to know it wherever it comes past.
inline constexpr std::uint32_t kShortPlaces = 6;

struct SoundBackground {
  double place = 0;  // of a short recording: 0, at the patch's beginning, to 1, at its end
  double level = 0;  // root of the noise's mean square; full scale: 1
  std::uint64_t seed = 0;
  double colour = 0;  // as SoundView's
  // The share of a patch's frequencies that it has: a microphone that is recorded at a lower rate
  // hears no noise above that, either.
  double band = 1;
  bool operator==(const SoundBackground&) const = default;
};

// Around a short recording of this content, as its part of this number below kShortPlaces has it:
// as it is, from the patch's beginning to its end, so many steps apart; in other views somewhere in
// such a share. The level is drawn, -80 to -45 dB of full scale, and at least 20 dB below the
// recording's.
[[nodiscard]] SoundBackground background_of(const Digest& sample, std::uint16_t view,
                                            std::uint32_t part, std::span<const float> recording);
// Every fourth patch without a signal is digital silence, the others are of -100 to -45 dB of full
// scale: what lies around short recordings is nothing by itself.
[[nodiscard]] SoundBackground silence_of(const Digest& sample, std::uint16_t view);

// Lays `recording` into the patch, which is as long or longer, over the noise.
void lay(std::span<const float> recording, const SoundBackground& background,
         std::span<float> patch);
// What a thread keeps, at most, to lay recordings into patches of so many samples.
[[nodiscard]] std::size_t background_bytes(std::size_t count);

// Whether any stretch of `length` samples is as loud as `floor`, dB of full scale.
[[nodiscard]] bool has_signal(std::span<const float> samples, std::size_t length, double floor);

}  // namespace moil::data
