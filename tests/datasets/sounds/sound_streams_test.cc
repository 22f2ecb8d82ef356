// Files whose heads say something else than they hold.
#include "datasets/sounds/sound_streams.h"

#include <cmath>

#include "datasets/labels/media_type.h"
#include "datasets/sounds/sound_cut.h"
#include "datasets/sounds/sound_file.h"
#include "tests/datasets/sounds/encode_sound.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::encode_sound;
using test::expect_error;
using test::SoundFormat;
using test::tone;

using Bytes = std::vector<std::uint8_t>;

std::vector<float> heard(const Bytes& bytes) {
  SoundFile file(bytes, "sound");
  std::vector<float> samples(static_cast<std::size_t>(file.samples()) + 10);
  samples.resize(file.read(samples));
  EXPECT_EQ(static_cast<std::int64_t>(samples.size()), file.samples());
  return samples;
}

void put(Bytes& bytes, std::size_t at, std::uint64_t value, std::size_t size = 4) {
  for (std::size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<std::uint8_t>(value >> 8 * i);
}

void append(Bytes& bytes, const std::string& name, const Bytes& content) {
  bytes.insert(bytes.end(), name.begin(), name.end());
  bytes.resize(bytes.size() + 4);
  put(bytes, bytes.size() - 4, content.size());
  bytes.insert(bytes.end(), content.begin(), content.end());
  if (content.size() % 2 == 1) bytes.push_back(0);
}

std::size_t place_of(const Bytes& bytes, std::string_view text) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).find(text);
}

Bytes joined(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST(SoundStreams, AWavFileIsHeardWhateverLengthItTells) {
  for (const auto format : {SoundFormat::kWav16, SoundFormat::kWav24, SoundFormat::kWavFloat}) {
    const Bytes right = encode_sound(format, 8000, 2, tone(8000, 440, 1, 2));
    const std::vector<float> whole = heard(right);
    ASSERT_EQ(whole.size(), 8000U);
    const std::size_t data = place_of(right, "data");
    for (const std::uint64_t told : {0U, 1U, 4U, 100U, 0x7fffffffU, 0xfffffffeU, 0xffffffffU}) {
      for (const std::uint64_t riff : {0U, 36U, 0xffffffffU}) {
        Bytes wrong = right;
        put(wrong, data + 4, told);
        put(wrong, 4, riff);
        EXPECT_EQ(heard(wrong), whole) << told << " in " << riff;
      }
    }
  }
}

TEST(SoundStreams, RF64IsHeardWhateverLengthItTells) {
  const Bytes wav = encode_sound(SoundFormat::kWav16, 8000, 1, tone(8000, 440, 1));
  const std::vector<float> whole = heard(wav);
  for (const std::uint64_t told : {std::uint64_t{16000}, std::uint64_t{0}, ~std::uint64_t{0}}) {
    Bytes rf64 = test::bytes_of("RF64\xff\xff\xff\xffWAVE");
    Bytes sizes(28);
    put(sizes, 0, 16000 + 80, 8);
    put(sizes, 8, told, 8);
    append(rf64, "ds64", sizes);
    rf64.insert(rf64.end(), wav.begin() + 12, wav.end());
    put(rf64, place_of(rf64, "data") + 4, 0xffffffff);
    EXPECT_EQ(media_type_of(rf64), kWav);
    EXPECT_EQ(heard(rf64), whole) << told;
  }
}

TEST(SoundStreams, EveryStretchOfAWavFileIsHeard) {
  const Bytes right = encode_sound(SoundFormat::kWav16, 8000, 1, tone(8000, 440, 1));
  const std::vector<float> whole = heard(right);
  const auto head = right.begin() + static_cast<std::ptrdiff_t>(place_of(right, "data"));
  const Bytes samples(head + 8, head + 8 + 16000);
  const auto part = [&](int from, int to) {
    return Bytes(samples.begin() + from, samples.begin() + to);
  };
  for (const bool has_notes : {false, true}) {
    Bytes two(right.begin(), head);
    append(two, "data", part(0, 6000));
    if (has_notes) append(two, "LIST", Bytes(33, 'x'));
    append(two, "data", part(6000, 6000));
    append(two, "data", part(6000, 16000));
    append(two, "LIST", Bytes(12, 'y'));
    EXPECT_EQ(heard(two), whole);
    EXPECT_EQ(cut_sound(SoundBytesInMemory(two), "walk", 0, 1, 1 << 20).frames, 8000);
  }
  // Samples end where the head says, if something else follows.
  Bytes noted = right;
  append(noted, "LIST", Bytes(40000, 'z'));
  EXPECT_EQ(heard(noted), whole);
  Bytes silent = encode_sound(SoundFormat::kWav16, 8000, 1, {});
  append(silent, "LIST", Bytes(400, 'z'));
  expect_error(ErrorCode::kBadData, {"sound: it holds no sound"}, [&] { (void)heard(silent); });
}

TEST(SoundStreams, AFlacFileIsHeardWhateverNumberItTells) {
  const Bytes right = encode_sound(SoundFormat::kFlac, 16000, 1, tone(16000, 440, 5));
  const std::vector<float> whole = heard(right);
  ASSERT_EQ(whole.size(), 80000U);
  EXPECT_EQ(samples_told_by_flac(SoundBytesInMemory(right)), 80000);
  for (const std::uint64_t told : {0U, 1U, 1000U, 79999U, 80001U, 4000000U}) {
    Bytes wrong = right;
    wrong[21] &= 0xf0;
    for (std::size_t i = 0; i < 4; ++i) wrong[25 - i] = static_cast<std::uint8_t>(told >> 8 * i);
    EXPECT_EQ(heard(wrong), whole) << told;
    EXPECT_EQ(cut_sound(SoundBytesInMemory(wrong), "walk", 4, 5, 1 << 20).frames, 16000) << told;
  }
}

TEST(SoundStreams, OggStreamsOneBehindTheOtherAreHeard) {
  for (const auto format : {SoundFormat::kVorbis, SoundFormat::kOpus}) {
    const Bytes low = encode_sound(format, 48000, 2, tone(48000, 440, 1, 2));
    const Bytes high = encode_sound(format, 48000, 2, tone(48000, 2000, 0.5, 2));
    std::vector<float> expected = heard(low);
    for (const Bytes* part : {&high, &low}) {
      const std::vector<float> more = heard(*part);
      expected.insert(expected.end(), more.begin(), more.end());
    }
    const Bytes chained = joined(joined(low, high), low);
    EXPECT_EQ(heard(chained), expected);
    SoundFile again(chained, "sound");
    std::vector<float> some(60000), same(60000);
    EXPECT_EQ(again.read(some), some.size());
    again.rewind();
    EXPECT_EQ(again.read(same), same.size());
    EXPECT_EQ(some, same) << "a rewound one begins with its first stream";
    EXPECT_EQ(cut_sound(SoundBytesInMemory(chained), "walk", 1.25, 2, 8 << 20).frames, 36000);
    // Cut off within the second: what there is of it counts.
    const Bytes cut(chained.begin(), chained.begin() + static_cast<std::ptrdiff_t>(
                                                           low.size() + high.size() * 9 / 10));
    const std::vector<float> begun = heard(cut);
    EXPECT_GE(begun.size(), 48000U);
    EXPECT_LE(begun.size(), 72000U);
  }
  const Bytes other = encode_sound(SoundFormat::kVorbis, 16000, 1, tone(16000, 440, 1));
  const Bytes odd =
      joined(encode_sound(SoundFormat::kVorbis, 48000, 2, tone(48000, 440, 1, 2)), other);
  expect_error(ErrorCode::kBadData, {"sound: its streams", "48000", "then 16000"},
               [&] { (void)heard(odd); });
}

TEST(SoundStreams, MixingTellsWhatItLeavesOfTheEnergy) {
  const auto left_of = [](const std::vector<float>& samples, int channels) {
    const Bytes bytes = encode_sound(SoundFormat::kWav16, 8000, channels, samples);
    SoundFile file(bytes, "sound");
    std::vector<float> all(static_cast<std::size_t>(file.samples()));
    (void)file.read(all);
    return file.energy_left();
  };
  EXPECT_NEAR(left_of(tone(8000, 440, 1, 2), 2), 1, 1e-3);
  EXPECT_NEAR(left_of(tone(8000, 440, 1), 1), 1, 1e-3);
  std::vector<float> opposite = tone(8000, 440, 1, 2), alone = opposite;
  for (std::size_t i = 1; i < opposite.size(); i += 2) opposite[i] = -opposite[i], alone[i] = 0;
  EXPECT_LT(left_of(opposite, 2), 1e-3);
  EXPECT_NEAR(left_of(alone, 2), 0.5, 1e-2);
}

// As a Zoom or Soundfield writes WXYZ: the four cancel, the first is what is to be heard.
TEST(SoundStreams, OfAmbisonicSoundTheFirstChannelIsHeard) {
  const std::vector<float> w = tone(8000, 440, 0.5);
  std::vector<float> four;
  for (const float s : w) four.insert(four.end(), {s, -s, -s, s});
  Bytes bytes = test::encode_ambisonic(8000, four);
  const std::vector<float> all = heard(bytes);
  ASSERT_EQ(all.size(), w.size());
  for (std::size_t i = 0; i < w.size(); ++i) ASSERT_NEAR(all[i], w[i], 1e-6);
}

TEST(MediaType, SoundsThatAreNotReadHaveTheirNames) {
  const auto named = [](const std::string& head) {
    return std::string(media_name(media_type_of(test::bytes_of(head))));
  };
  const std::string box("\0\0\0\x20", 4);
  EXPECT_EQ(named(box + "ftypM4A " + std::string(20, '\0')), "an M4A sound");
  EXPECT_EQ(named(box + "ftypM4B " + std::string(20, '\0')), "an M4A sound");
  EXPECT_EQ(named(box + "ftypisom" + std::string(20, '\0')), "a video");
  EXPECT_EQ(named(box + "ftyp3gp4" + std::string(20, '\0')), "a 3GP video or voice memo");
  EXPECT_EQ(named("#!AMR\n"), "an AMR voice memo");
  EXPECT_EQ(named(std::string("FORM\0\0\0\x10"
                              "AIFFCOMM",
                              16)),
            "an AIFF sound");
  EXPECT_EQ(named("RIFF1234WAVE"), "a WAV sound");
  EXPECT_EQ(named("RF64\xff\xff\xff\xffWAVEds64"), "a WAV sound");
  EXPECT_EQ(named("BW64\xff\xff\xff\xffWAVEds64"), "a WAV sound");
  EXPECT_EQ(named(std::string("riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\0\0", 16) +
                  std::string(8, '\1') + "wave\xf3\xac\xd3\x11"),
            "a WAV sound");
}

}  // namespace
}  // namespace moil::data
