#include "datasets/sounds/sound_outline.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/datasets/sounds/encode_sound.h"

namespace moil::data {
namespace {

using test::encode_sound;
using test::SoundFormat;

SoundOutline outline(const std::vector<float>& samples, std::size_t most, double seconds = 100) {
  const auto bytes = encode_sound(SoundFormat::kWavFloat, 8000, 1, samples);
  SoundFile file(bytes, "sound");
  return outline_of(file, most, seconds);
}

TEST(SoundOutline, TellsWhereItIsLoud) {
  std::vector<float> samples(80000, 0.0F);
  samples[60000] = 0.75F;
  samples[60001] = -0.5F;
  const SoundOutline found = outline(samples, 100);
  EXPECT_DOUBLE_EQ(found.seconds, 10);
  ASSERT_GT(found.swings.size(), 50U);
  ASSERT_LE(found.swings.size(), 100U);
  const std::size_t loud = 60000 / 1024;  // 16 samples, doubled until they are few enough
  for (std::size_t i = 0; i < found.swings.size(); ++i) {
    EXPECT_EQ(found.swings[i].high, i == loud ? 0.75F : 0.0F) << i;
    EXPECT_EQ(found.swings[i].low, i == loud ? -0.5F : 0.0F) << i;
  }
}

TEST(SoundOutline, OfAShortSoundHasFewSwings) {
  const SoundOutline found = outline(std::vector<float>(40, 0.5F), 100);
  ASSERT_EQ(found.swings.size(), 3U);  // 16, 16 and 8 samples
  EXPECT_EQ(found.swings[2].high, 0.5F);
  EXPECT_EQ(found.swings[2].low, 0.5F);
}

TEST(SoundOutline, EndsWhereItIsTold) {
  std::vector<float> samples(80000, 0.1F);
  samples[79999] = 1;
  const SoundOutline found = outline(samples, 100, 5);
  EXPECT_DOUBLE_EQ(found.seconds, 5);
  EXPECT_TRUE(std::ranges::all_of(found.swings, [](const auto& s) { return s.high < 0.2F; }));
}

}  // namespace
}  // namespace moil::data
