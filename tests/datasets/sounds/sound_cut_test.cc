#include "datasets/sounds/sound_cut.h"

#include <sndfile.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <limits>

#include "base/files/write_all.h"
#include "base/process_memory.h"
#include "datasets/labels/media_type.h"
#include "datasets/sounds/sound_decoder.h"
#include "tests/datasets/sounds/encode_sound.h"
#include "tests/datasets/support.h"
#include "tests/plain_build.h"

namespace moil::data {
namespace {

using test::encode_sound;
using test::expect_error;
using test::SoundFormat;
using test::tone;

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kMost = 64 << 20;

SoundPiece cut(const Bytes& bytes, double from, double to, std::uint64_t most = kMost) {
  return cut_sound(SoundBytesInMemory(bytes), "walk", from, to, most);
}

// All channels, as they are; of what begins at frame `from`, at most `count`.
template <class Sample>
std::vector<Sample> frames_of(const Bytes& bytes, std::int64_t from = 0,
                              std::int64_t count = 1 << 24) {
  const SoundBytesInMemory memory(bytes);
  SoundDecoder decoder(memory, "sound");
  const auto channels = static_cast<std::size_t>(decoder.channels());
  std::vector<Sample> all(static_cast<std::size_t>(from + count) * channels);
  const sf_count_t n = decoder.read(all.data(), from + count);
  all.resize(static_cast<std::size_t>(n) * channels);
  all.erase(all.begin(), all.begin() + from * decoder.channels());
  return all;
}

int coding_of(const Bytes& bytes) {
  const SoundBytesInMemory memory(bytes);
  return SoundDecoder(memory, "sound").coding();
}

// Two channels that differ, and no sample like the next.
std::vector<float> noise(std::size_t frames) {
  std::vector<float> samples(2 * frames);
  std::uint32_t state = 1;
  for (float& sample : samples) {
    state = state * 1664525U + 1013904223U;
    sample = static_cast<float>(state >> 8U) / (1 << 24) * 1.8F - 0.9F;
  }
  return samples;
}

TEST(SoundCut, HasTheVerySamplesOfEveryFormat) {
  for (const SoundFormat format : test::kSoundFormats) {
    SCOPED_TRACE(static_cast<int>(format));
    const Bytes whole = encode_sound(format, 48000, 2, noise(48000));
    const SoundPiece piece = cut(whole, 0.25, 0.5);
    EXPECT_EQ(media_type_of(piece.wav), kWav);
    EXPECT_EQ(piece.rate, 48000);
    EXPECT_EQ(piece.channels, 2);
    EXPECT_EQ(piece.frames, 12000);
    EXPECT_EQ(frames_of<float>(piece.wav), frames_of<float>(whole, 12000, 12000));
    if (coding_of(piece.wav) != SF_FORMAT_FLOAT) {
      EXPECT_EQ(frames_of<int>(piece.wav), frames_of<int>(whole, 12000, 12000));
    }
    EXPECT_EQ(cut(whole, 0.25, 0.5).wav, piece.wav) << "the same cut is the same sample";
  }
}

TEST(SoundCut, SamplesStayAsWideAsTheyAre) {
  const auto coding = [](SoundFormat format) {
    return coding_of(cut(encode_sound(format, 48000, 1, tone(48000, 440, 1)), 0, 0.1).wav);
  };
  EXPECT_EQ(coding(SoundFormat::kWav16), SF_FORMAT_PCM_16);
  EXPECT_EQ(coding(SoundFormat::kFlac), SF_FORMAT_PCM_16);
  EXPECT_EQ(coding(SoundFormat::kWav24), SF_FORMAT_PCM_24);
  EXPECT_EQ(coding(SoundFormat::kWavFloat), SF_FORMAT_FLOAT);
  EXPECT_EQ(coding(SoundFormat::kVorbis), SF_FORMAT_FLOAT);
  EXPECT_EQ(coding(SoundFormat::kOpus), SF_FORMAT_FLOAT);
  EXPECT_EQ(coding(SoundFormat::kMp3), SF_FORMAT_FLOAT);
}

TEST(SoundCut, FloatsBeyondOneStay) {
  const std::vector<float> samples = {0.5F, 7, -3e38F, 0.25F};
  const Bytes whole = encode_sound(SoundFormat::kWavFloat, 8000, 1, samples);
  EXPECT_EQ(frames_of<float>(cut(whole, 1.0 / 8000, 3.0 / 8000).wav),
            (std::vector<float>{7, -3e38F}));
}

TEST(SoundCut, PiecesSideBySideAreTheWhole) {
  const Bytes whole = encode_sound(SoundFormat::kWav16, 11025, 2, noise(11025));
  std::vector<int> joined;
  const double times[] = {0, 0.1, 0.33333, 0.7, 1};
  for (int i = 0; i < 4; ++i) {
    const auto part = frames_of<int>(cut(whole, times[i], times[i + 1]).wav);
    joined.insert(joined.end(), part.begin(), part.end());
  }
  EXPECT_EQ(joined, frames_of<int>(whole));
}

TEST(SoundCut, RefusesTimesThatDoNotFit) {
  const Bytes whole = encode_sound(SoundFormat::kVorbis, 16000, 1, tone(16000, 440, 2));
  const auto refused = [&](double from, double to, const std::string& why) {
    expect_error(ErrorCode::kInvalidArgument, {"walk: ", why}, [&] { (void)cut(whole, from, to); });
  };
  refused(1, 1, "ends behind its beginning, not at 1 s");
  refused(1.5, 1, "where it begins at 1.5 s");
  refused(-1, 1, "begins at 0 s or later, not at -1 s");
  refused(std::nan(""), 1, "begins at 0 s or later");
  refused(0, std::numeric_limits<double>::infinity(), "within a day");
  refused(0, 2.001, "it is 2 s long, and the piece would end at 2.001 s; let it end at 2 s");
  refused(70, 80, "it is 2 s long");
  refused(1, 1.00001, "from 1 to 1.00001 s there is no sample; it has 16000 samples a second");
  EXPECT_EQ(cut(whole, 0, 2).frames, 32000);
  EXPECT_EQ(cut(whole, 1, 1.00005).frames, 1);
}

TEST(SoundCut, TheLengthThatIsToldCanBeCut) {
  const Bytes whole = encode_sound(SoundFormat::kWav16, 44100, 1, tone(44100, 440, 1.23456));
  expect_error(ErrorCode::kInvalidArgument, {"it is 1.234 s long"},
               [&] { (void)cut(whole, 0, 1.25); });
  EXPECT_EQ(cut(whole, 0, 1.234).frames, std::llround(1.234 * 44100));
}

TEST(SoundCut, RefusesPiecesThatNoSampleMayBe) {
  const Bytes whole = encode_sound(SoundFormat::kWav16, 16000, 2, tone(16000, 440, 40, 2));
  expect_error(ErrorCode::kInvalidArgument, {"more than 1 MiB", "cut pieces of 16.368 s at most"},
               [&] { (void)cut(whole, 0, 20, 1 << 20); });
  const SoundPiece piece = cut(whole, 20, 36.368, 1 << 20);
  EXPECT_LE(piece.wav.size(), 1U << 20);
}

TEST(SoundCut, RefusesWhatIsNoSound) {
  expect_error(ErrorCode::kBadData, {"walk: it is text, no sound"},
               [] { (void)cut(test::bytes_of("hello"), 0, 1); });
  expect_error(ErrorCode::kBadData, {"walk: it holds no sound"},
               [] { (void)cut(encode_sound(SoundFormat::kWav16, 8000, 1, {}), 0, 1); });
}

TEST(SoundCut, OfADamagedFileWhatLiesBeforeCanBeCut) {
  Bytes flac = encode_sound(SoundFormat::kFlac, 16000, 2, noise(160000));
  const auto before = frames_of<int>(flac, 16000, 16000);
  flac.resize(flac.size() / 2);
  EXPECT_EQ(frames_of<int>(cut(flac, 1, 2).wav), before);
  expect_error(ErrorCode::kBadData, {"walk: it is damaged", "cut what lies before"},
               [&] { (void)cut(flac, 1, 9); });
  Bytes hole = encode_sound(SoundFormat::kFlac, 16000, 2, noise(160000));
  std::fill_n(hole.begin() + static_cast<std::ptrdiff_t>(hole.size() / 2), 20000, std::uint8_t{0});
  EXPECT_EQ(frames_of<int>(cut(hole, 1, 2).wav), before);
  expect_error(ErrorCode::kBadData, {"walk: it is damaged"}, [&] { (void)cut(hole, 8, 9); });
}

// An hour of silence, which takes no room on the disk, and a click in its last second.
TEST(SoundCut, OfALongFileTakesLittleMemory) {
  MOIL_NEEDS_TRUE_MEMORY();
  const std::int64_t rate = 44100, frames = 3600 * rate, bytes = frames * 4;
  const int file = ::memfd_create("hour", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  Bytes head = encode_sound(SoundFormat::kWav16, static_cast<int>(rate), 2, {});
  head.resize(44);
  const auto put = [&](std::size_t at, std::int64_t value) {
    for (std::size_t i = 0; i < 4; ++i)
      head[at + i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i));
  };
  put(4, bytes + 36);
  put(40, bytes);
  ASSERT_TRUE(write_all(file, head));
  ASSERT_EQ(::ftruncate(file, 44 + bytes), 0);
  const std::uint8_t click = 0x40;
  ASSERT_EQ(::pwrite(file, &click, 1, 44 + (3599 * rate + 7) * 4 + 1), 1);
  reset_peak_memory();
  const std::size_t before = resident_memory().bytes;
  const SoundPiece piece = cut_sound(SoundBytesOfFile(file, "hour"), "hour", 3599, 3600, kMost);
  const std::size_t peak = resident_memory().peak_bytes;
  ::close(file);
  EXPECT_LT(peak, before + (std::size_t{8} << 20));
  const auto samples = frames_of<int>(piece.wav);
  ASSERT_EQ(samples.size(), 2 * static_cast<std::size_t>(rate));
  EXPECT_EQ(samples[14], 0x40000000);
  EXPECT_EQ(samples[13], 0);
}

}  // namespace
}  // namespace moil::data
