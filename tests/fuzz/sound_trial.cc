#include <cmath>
#include <vector>

#include "base/error.h"
#include "datasets/kinds/sound/sound_kind.h"
#include "datasets/sounds/sound_cut.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/trials.h"

namespace moil::test {

namespace {

// Small, so that a trial's time goes into reading the file.
data::KindPtr small_kind() {
  data::SoundDescription description;
  data::FrontEndDescription& front_end = description.front_end;
  front_end.rate = 8000;
  front_end.window = front_end.fft = 64;
  front_end.hop = 32;
  front_end.bands = 8;
  front_end.high = 4000;
  front_end.frames = 8;
  front_end.patch_hop = 4;
  return data::sound_kind(description);
}

// A piece of it, and the whole of the piece, which is the same.
void try_piece(std::span<const std::uint8_t> bytes) {
  constexpr std::uint64_t kMostBytes = 1 << 16;
  const auto cut = [](std::span<const std::uint8_t> from, double begin, double end) {
    return data::cut_sound(data::SoundBytesInMemory(from), "sound", begin, end, kMostBytes);
  };
  try {
    const data::SoundPiece piece = cut(bytes, 0.001, 0.003);
    const double seconds = static_cast<double>(piece.frames) / piece.rate;
    require(cut(piece.wav, 0, seconds).wav == piece.wav, "a piece is the whole of itself");
  } catch (const Error& e) {
    require(e.code() == ErrorCode::kBadData || e.code() == ErrorCode::kInvalidArgument, e.what());
  }
}

}  // namespace

bool try_sound(std::span<const std::uint8_t> bytes) {
  static const data::KindPtr kind = small_kind();
  try_piece(bytes);
  try {
    const std::uint32_t parts = kind->parts(bytes, "sound");
    require(parts >= 1, "a sound has a patch");
    const auto maker = kind->maker({});
    maker->load(bytes, "sound");
    std::vector<float> first(kind->floats()), last(first), again(first);
    maker->make({}, {0, 0}, first.data());
    maker->make({}, {1, std::min(parts - 1, 50U)}, last.data());
    maker->make({}, {0, 0}, again.data());
    require(first == again, "a patch is the same each time");
    for (const float v : last) require(std::isfinite(v), "a patch is of numbers");
    return true;
  } catch (const Error& e) {
    require(e.code() == ErrorCode::kBadData, e.what());
    return false;
  }
}

}  // namespace moil::test
