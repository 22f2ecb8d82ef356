// moil-worker cut: a piece of a stranger's recording. Any thread.
#pragma once

#include <string>

#include "daemon/json/fields.h"

namespace moil::worker {

struct Cut {
  int recording = -1, piece = -1;  // descriptors, open for reading and for writing
  std::string name = "the recording";
  double from = 0, to = 0;  // seconds
};

// Writes the piece, of at most data::kMaxSampleBytes, and says what it is: {"recording", "rate",
// "channels", "frames", "seconds"}; "recording" is the digest of the whole file. Throws as
// data::cut_sound(), and kIo.
[[nodiscard]] Json cut(const Cut& wanted);

}  // namespace moil::worker
