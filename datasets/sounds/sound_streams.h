// What a sound file holds, whatever its head says.
//
// Recorders that stream write a length of 0 and never come back to mend it; others write a second
// stretch of samples, or another Ogg stream, behind the first. libsndfile believes the head; so it
// is shown a file whose head is right.
#pragma once

#include <memory>
#include <vector>

#include "datasets/sounds/sound_bytes.h"

namespace moil::data {

// The streams of a file, to be heard one after the other; at least one. Each is a file by itself.
//   WAV   one, of all stretches of samples; a length that says less than half of what is there is
//         no length; of a pipe, what lies behind the first is not heard, and none or one of two
//         gigabytes or more is no length
//   FLAC  one; its number of samples is left open
//   Ogg   each that begins where another has ended
// `file` outlives them. What is damaged is as it is.
[[nodiscard]] std::vector<std::unique_ptr<SoundBytes>> streams_of(const SoundBytes& file);

// Samples of each channel that a FLAC file's head shows; 0 if it shows none, or is another's.
[[nodiscard]] std::int64_t samples_told_by_flac(const SoundBytes& file);

}  // namespace moil::data
