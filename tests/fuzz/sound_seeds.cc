#include "tests/fuzz/sound_seeds.h"

#include "tests/datasets/sounds/encode_sound.h"

namespace moil::test {

std::map<std::string, std::string> sound_seeds() {
  using data::test::SoundFormat;
  std::map<std::string, std::string> seeds;
  for (const SoundFormat format : data::test::kSoundFormats) {
    const auto bytes =
        data::test::encode_sound(format, 16000, 2, data::test::tone(16000, 440, 0.05, 2));
    seeds["format-" + std::to_string(static_cast<int>(format))] = {bytes.begin(), bytes.end()};
  }
  return seeds;
}

}  // namespace moil::test
