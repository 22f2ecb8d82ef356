#include "datasets/sounds/sound_stream.h"

#include <cmath>
#include <numbers>

#include "tests/datasets/sounds/encode_sound.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::encode_sound;
using test::SoundFormat;
using test::tone;

std::vector<float> streamed(const std::vector<std::uint8_t>& bytes, int rate, std::size_t at_once) {
  SoundStream stream(bytes, "sound", rate);
  std::vector<float> samples;
  const auto count = static_cast<std::size_t>(stream.samples());
  while (samples.size() < count) {
    std::vector<float> some(at_once);
    stream.read(some);
    samples.insert(samples.end(), some.begin(), some.end());
  }
  samples.resize(count);
  return samples;
}

TEST(SoundStream, ATonePassesFromEveryRate) {
  for (const int from : {8000, 11025, 16000, 22050, 44100, 48000, 96000}) {
    const auto bytes = encode_sound(SoundFormat::kWavFloat, from, 1, tone(from, 440, 1));
    const auto samples = streamed(bytes, 16000, 1000);
    ASSERT_EQ(samples.size(), 16000U) << from;
    for (std::size_t i = 200; i < samples.size() - 200; ++i)
      ASSERT_NEAR(samples[i],
                  0.5 * std::sin(2 * std::numbers::pi * 440 * static_cast<double>(i) / 16000), 2e-3)
          << from << " " << i;
  }
}

TEST(SoundStream, WhatTheRateCannotHoldIsGone) {
  const auto bytes = encode_sound(SoundFormat::kWavFloat, 48000, 1, tone(48000, 12000, 1));
  const auto samples = streamed(bytes, 16000, 1000);
  for (std::size_t i = 200; i < samples.size() - 200; ++i)
    ASSERT_LT(std::abs(samples[i]), 1e-3) << i;
}

TEST(SoundStream, DoesNotDependOnHowItIsRead) {
  const auto bytes = encode_sound(SoundFormat::kWav16, 44100, 2, tone(44100, 700, 1.3, 2));
  const auto whole = streamed(bytes, 16000, 100000);
  EXPECT_EQ(streamed(bytes, 16000, 7), whole);
  SoundStream stream(bytes, "sound", 16000);
  std::vector<float> some(5000), again(5000);
  stream.read(some);
  stream.rewind();
  stream.read(again);
  EXPECT_EQ(some, again);
}

TEST(SoundStream, SilenceFollowsTheEnd) {
  const auto bytes = encode_sound(SoundFormat::kWavFloat, 16000, 1, {0.5, 0.5});
  SoundStream stream(bytes, "sound", 16000);
  std::vector<float> samples(4, 9.0F);
  stream.read(samples);
  EXPECT_EQ(samples, (std::vector<float>{0.5, 0.5, 0, 0}));
  EXPECT_EQ(stream.samples(), 2);
}

}  // namespace
}  // namespace moil::data
