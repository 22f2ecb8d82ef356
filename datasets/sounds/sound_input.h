// What is listened to: a sound file, or a pipe with one, or samples without a head.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "datasets/sounds/sound_bytes.h"

namespace moil::data {

struct SoundInput {
  std::shared_ptr<const SoundBytes> bytes;
  bool is_raw = false;  // was told by its first bytes
  // What came; of a pipe, so far.
  std::shared_ptr<const SoundBytes> source;
};

// An open file, which is never read as a whole, or a pipe, which is read as it comes; it stays open
// as long. raw_rate: what begins like no file of sound, photos or text is samples at this rate, of
// one channel and 16 bits, little-endian; none: it is a file. kBadData, beginning with `name`, for
// a pipe with what is no WAV or FLAC: others are read from their end. kInvalidArgument for a
// folder.
[[nodiscard]] SoundInput sound_input(int descriptor, std::optional<int> raw_rate,
                                     std::string_view name);

}  // namespace moil::data
