#include <cmath>
#include <vector>

#include "base/error.h"
#include "datasets/kinds/sound/sound_kind.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/trials.h"

namespace moil::test {

bool try_sound(std::span<const std::uint8_t> bytes) {
  static const data::KindPtr kind = data::sound_kind({});
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
