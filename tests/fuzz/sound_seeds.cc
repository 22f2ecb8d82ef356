#include "tests/fuzz/sound_seeds.h"

#include "tests/datasets/sounds/encode_sound.h"

namespace moil::test {

std::map<std::string, std::string> sound_seeds() {
  using data::testing::SoundFormat;
  std::map<std::string, std::string> seeds;
  for (const SoundFormat format : data::testing::kSoundFormats) {
    const auto bytes =
        data::testing::encode_sound(format, 16000, 2, data::testing::tone(16000, 440, 0.05, 2));
    seeds["format-" + std::to_string(static_cast<int>(format))] = {bytes.begin(), bytes.end()};
  }
  return seeds;
}

}  // namespace moil::test
