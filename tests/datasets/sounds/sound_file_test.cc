#include "datasets/sounds/sound_file.h"

#include <cmath>
#include <limits>

#include "tests/datasets/sounds/encode_sound.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::encode_sound;
using test::expect_error;
using test::SoundFormat;
using test::tone;

std::vector<float> all_of(SoundFile& file) {
  std::vector<float> samples(static_cast<std::size_t>(file.samples()) + 10);
  samples.resize(file.read(samples));
  return samples;
}

std::vector<float> decoded(const std::vector<std::uint8_t>& bytes) {
  SoundFile file(bytes, "sound");
  return all_of(file);
}

double strength(const std::vector<float>& samples) {
  double squares = 0;
  for (const float s : samples) squares += double{s} * double{s};
  return std::sqrt(squares / static_cast<double>(samples.size()));
}

TEST(SoundFile, ReadsEveryFormat) {
  for (const SoundFormat format : test::kSoundFormats) {
    SCOPED_TRACE(static_cast<int>(format));
    const auto bytes = encode_sound(format, 48000, 2, tone(48000, 440, 1, 2));
    SoundFile file(bytes, "sound");
    EXPECT_EQ(file.rate(), 48000);
    const auto samples = all_of(file);
    EXPECT_EQ(static_cast<std::int64_t>(samples.size()), file.samples());
    EXPECT_NEAR(static_cast<double>(samples.size()), 48000, format == SoundFormat::kMp3 ? 3000 : 1);
    EXPECT_NEAR(strength(samples), 0.5 / std::sqrt(2.0), 0.02);
    file.rewind();
    EXPECT_EQ(all_of(file), samples) << "once more";
  }
}

TEST(SoundFile, ChannelsAreAveraged) {
  EXPECT_EQ(decoded(encode_sound(SoundFormat::kWavFloat, 8000, 2, {1, 0, 0.5, -0.5, 0.25, 0.25})),
            (std::vector<float>{0.5, 0, 0.25}));
}

TEST(SoundFile, WhatIsNoNumberIsSilence) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinite = std::numeric_limits<float>::infinity();
  EXPECT_EQ(decoded(encode_sound(SoundFormat::kWavFloat, 8000, 1,
                                 {nan, infinite, -infinite, 9, -3e38F, 0.5})),
            (std::vector<float>{0, 0, 0, 9, -kLoudest, 0.5}));
}

// As PyTorch and TensorFlow read them.
TEST(SoundFile, FloatsAreAsLoudAsTheySay) {
  EXPECT_EQ(decoded(encode_sound(SoundFormat::kWavFloat, 8000, 2, {3, 1, -2, -2, 0.5, 0.25})),
            (std::vector<float>{2, -2, 0.375}));
}

TEST(SoundFile, OfACutFileWhatIsThereCounts) {
  const auto whole = tone(16000, 440, 20);
  for (const SoundFormat format : test::kSoundFormats) {
    SCOPED_TRACE(static_cast<int>(format));
    auto bytes = encode_sound(format, 16000, 1, whole);
    bytes.resize(bytes.size() * 2 / 3);
    SoundFile file(bytes, "cut");
    const auto samples = all_of(file);
    EXPECT_EQ(static_cast<std::int64_t>(samples.size()), file.samples());
    EXPECT_GT(samples.size(), whole.size() / 4);
    EXPECT_LT(samples.size(), whole.size() * 9 / 10);
  }
}

// Its last page tells how long an Ogg file is, wherever pages end.
TEST(SoundFile, OggFilesTellTheirLength) {
  const auto whole = tone(16000, 440, 20);
  for (const SoundFormat format : test::kSoundFormats) {
    const auto bytes = encode_sound(format, 16000, 1, whole);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!text.starts_with("OggS")) continue;
    SCOPED_TRACE(static_cast<int>(format));
    for (std::size_t end = text.size(); end > text.size() / 2; end = text.rfind("OggS", end - 1)) {
      SoundFile file({bytes.data(), end}, "pages");
      const std::int64_t told = file.samples();
      EXPECT_EQ(static_cast<std::int64_t>(all_of(file).size()), told) << end;
    }
  }
}

TEST(SoundFile, RefusesWhatHoldsNoSound) {
  const auto refused = [](std::vector<std::uint8_t> bytes, const std::string& why) {
    expect_error(ErrorCode::kBadData, {"bad.wav: ", why},
                 [&] { const SoundFile file(bytes, "bad.wav"); });
  };
  refused({}, "no sound");
  refused(test::bytes_of("hello"), "it is text, no sound");
  refused(test::bytes_of(std::string("\0\0\0\x20"
                                     "ftypM4A ",
                                     12)),
          "it is an M4A sound; WAV, FLAC, Ogg and MP3 sounds are read");
  refused(encode_sound(SoundFormat::kWav16, 8000, 1, {}), "it holds no sound");
  auto head = encode_sound(SoundFormat::kWav16, 8000, 1, tone(8000, 440, 1));
  head.resize(44);
  refused(head, "it holds no sound");
  head.resize(20);
  refused(head, "cannot be read");
  refused(encode_sound(SoundFormat::kWav16, 500, 1, tone(500, 40, 1)), "500 samples a second");
  refused(encode_sound(SoundFormat::kWav16, 8000, 100, tone(8000, 440, 0.1, 100)), "100 channels");
}

}  // namespace
}  // namespace moil::data
