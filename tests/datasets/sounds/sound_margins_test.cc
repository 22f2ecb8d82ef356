#include "datasets/sounds/sound_margins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "datasets/sounds/sound_stream.h"
#include "tests/datasets/sounds/encode_sound.h"
#include "tests/errors.h"

namespace moil::data {
namespace {

using test::SoundFormat;

std::vector<float> tone(int rate, double seconds) {
  std::vector<float> samples;
  for (int i = 0; i < static_cast<int>(seconds * rate); ++i)
    samples.push_back(static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * 300 * i / rate)));
  return samples;
}

double loudness(std::span<const float> samples) {
  double sum = 0;
  for (const float x : samples) sum += double{x} * double{x};
  return std::sqrt(sum / static_cast<double>(samples.size()));
}

TEST(SoundMargins, LieOnBothSides) {
  for (const int rate : {8000, 16'000, 44'100, 48'000}) {
    const auto file = test::encode_sound(SoundFormat::kWavFloat, rate, 1, tone(rate, 0.5));
    const auto wide = with_margins(file, "word.wav", 1.25);
    EXPECT_EQ(wide, with_margins(file, "word.wav", 1.25));
    SoundStream stream(wide, "wide.wav", 16'000);
    std::vector<float> samples(static_cast<std::size_t>(stream.samples()));
    EXPECT_NEAR(static_cast<double>(samples.size()), 3 * 16'000, 2) << rate;
    stream.read(samples);
    const auto all = std::span<const float>(samples);
    EXPECT_NEAR(loudness(all.subspan(100, 19'000)), 1e-3, 5e-4) << rate;
    EXPECT_NEAR(loudness(all.subspan(20'400, 7000)), 0.5 / std::numbers::sqrt2, 0.01) << rate;
    EXPECT_NEAR(loudness(all.last(19'000)), 1e-3, 5e-4) << rate;
  }
}

TEST(SoundMargins, WhatIsNoSoundIsRefused) {
  const std::vector<std::uint8_t> text(100, 'a');
  moil::test::expect_error(ErrorCode::kBadData, "word.wav",
                           [&] { (void)with_margins(text, "word.wav", 1); });
}

}  // namespace
}  // namespace moil::data
