#include "daemon/worker/cut.h"

#include <cerrno>

#include "base/error.h"
#include "base/write_all.h"
#include "datasets/labels/label_types.h"
#include "datasets/sounds/sound_cut.h"

namespace moil::worker {

daemon::Json cut(const Cut& wanted) {
  const data::SoundBytesOfFile recording(wanted.recording, wanted.name);
  const data::SoundPiece piece =
      data::cut_sound(recording, wanted.name, wanted.from, wanted.to, data::kMaxSampleBytes);
  if (!write_all(wanted.piece, piece.wav)) throw system_error("cannot write the piece", errno);
  return {{"rate", piece.rate},
          {"channels", piece.channels},
          {"frames", piece.frames},
          {"seconds", static_cast<double>(piece.frames) / piece.rate}};
}

}  // namespace moil::worker
