// A piece of a recording, as a sound file of its own: the very samples, at the recording's rate and
// with its channels.
//
// The piece is a WAV file, for that is the same bytes whatever version of a library writes it: the
// same cut is the same sample. Its samples are as wide as the recording's; of what is compressed to
// fewer than 16 bits they have 16, and of Vorbis, Opus and MP3 they are the floats that the decoder
// makes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/sounds/sound_bytes.h"

namespace moil::data {

struct SoundPiece {
  std::vector<std::uint8_t> wav;
  int rate = 0, channels = 0;
  std::int64_t frames = 0;
};

// Frames [round(from * rate), round(to * rate)), of which the recording, called `name` in messages,
// must have all. It is decoded from its beginning to the piece's end, in memory for the piece and a
// few hundred kilobytes; may be called from any thread.
//
// kBadData for what is no sound, holds none, or is damaged before `to`; kInvalidArgument for a time
// below 0 or beyond the end (and the message says how long the recording is), `to` not behind
// `from`, a piece that holds no sample, or one of more than `most_bytes`
// (1 KiB or more).
[[nodiscard]] SoundPiece cut_sound(const SoundBytes& recording, const std::string& name,
                                   double from, double to, std::uint64_t most_bytes);

}  // namespace moil::data
