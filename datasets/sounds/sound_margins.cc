#include "datasets/sounds/sound_margins.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "datasets/sounds/sound_stream.h"
#include "datasets/sounds/wav_head.h"

namespace moil::data {
namespace {

constexpr int kMarginRate = 48'000;

void append(std::vector<std::uint8_t>& wav, double sample) {
  const double scaled = std::round(std::clamp(sample, -1.0, 1.0) * 32767);
  const auto bits = static_cast<std::uint16_t>(static_cast<std::int16_t>(scaled));
  wav.push_back(static_cast<std::uint8_t>(bits));
  wav.push_back(static_cast<std::uint8_t>(bits >> 8));
}

}  // namespace

std::vector<std::uint8_t> with_margins(std::span<const std::uint8_t> recording,
                                       std::string_view name, double seconds) {
  constexpr double kNoise = 1e-3 * 1.7320508;  // of uniform noise, whose deviation is 1e-3
  SoundStream stream(recording, name, kMarginRate);
  std::vector<float> samples(static_cast<std::size_t>(stream.samples()));
  stream.read(samples);
  const auto margin = static_cast<std::int64_t>(std::lround(seconds * kMarginRate));
  Random random(1);
  std::vector<std::uint8_t> wav = wav_head(kMarginRate);
  wav.reserve(wav.size() + 2 * (samples.size() + 2 * static_cast<std::size_t>(margin)));
  const auto add_noise = [&] {
    for (std::int64_t i = 0; i < margin; ++i) append(wav, kNoise * (2 * random.unit() - 1));
  };
  add_noise();
  for (const float sample : samples) append(wav, double{sample});
  add_noise();
  return wav;
}

}  // namespace moil::data
