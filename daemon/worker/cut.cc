#include "daemon/worker/cut.h"

#include <cerrno>

#include "base/error.h"
#include "base/files/write_all.h"
#include "base/hash.h"
#include "datasets/identity/digest.h"
#include "datasets/labels/label_types.h"
#include "datasets/sounds/sound_cut.h"

namespace moil::worker {

namespace {

std::string digest_of(const data::SoundBytes& recording) {
  Hasher hasher;
  std::vector<std::uint8_t> part(std::size_t{1} << 20);
  std::int64_t at = 0;
  while (const std::size_t some = recording.read(at, part)) {
    hasher.add(part.data(), some);
    at += static_cast<std::int64_t>(some);
  }
  return data::Digest{hasher.hash128()}.hex();
}

}  // namespace

Json cut(const Cut& wanted) {
  const data::SoundBytesOfFile recording(wanted.recording, wanted.name);
  const data::SoundPiece piece =
      data::cut_sound(recording, wanted.name, wanted.from, wanted.to, data::kMaxSampleBytes);
  if (!write_all(wanted.piece, piece.wav)) throw system_error("cannot write the piece", errno);
  return {{"recording", digest_of(recording)},
          {"rate", piece.rate},
          {"channels", piece.channels},
          {"frames", piece.frames},
          {"seconds", static_cast<double>(piece.frames) / piece.rate}};
}

}  // namespace moil::worker
