#include "datasets/sounds/sound_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <thread>

#include "base/files/unique_fd.h"
#include "base/files/write_all.h"
#include "datasets/sounds/pipe_bytes.h"
#include "datasets/sounds/sound_stream.h"
#include "tests/datasets/sounds/encode_sound.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::encode_sound;
using test::expect_error;
using test::SoundFormat;
using test::tone;

using Bytes = std::vector<std::uint8_t>;

// A pipe into which another thread writes so many bytes at a time.
class Written {
 public:
  Written(Bytes bytes, std::size_t piece, int flags = O_CLOEXEC) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), flags), 0);
    reader_ = UniqueFd(ends[0]);
    writer_ = std::thread([bytes = std::move(bytes), piece, end = ends[1]] {
      const UniqueFd out(end);
      ::fcntl(end, F_SETFL, 0);
      for (std::size_t at = 0; at < bytes.size(); at += piece) {
        const auto some = std::span(bytes).subspan(at, std::min(piece, bytes.size() - at));
        if (!write_all(end, {reinterpret_cast<const char*>(some.data()), some.size()})) return;
      }
    });
  }
  ~Written() {
    while (::read(reader_.get(), std::array<char, 4096>().data(), 4096) > 0) {
    }
    reader_.reset();
    writer_.join();
  }
  int get() const { return reader_.get(); }

 private:
  UniqueFd reader_;
  std::thread writer_;
};

Bytes raw(const std::vector<float>& samples) {
  Bytes bytes;
  for (const float s : samples) {
    const auto value = static_cast<std::int16_t>(std::lround(32767 * s));
    bytes.push_back(static_cast<std::uint8_t>(value & 0xff));
    bytes.push_back(static_cast<std::uint8_t>(value >> 8 & 0xff));
  }
  return bytes;
}

// All of it, at 16,000 samples a second.
std::vector<float> heard(int descriptor, std::optional<int> rate) {
  SoundStream stream(sound_input(descriptor, rate, "sound").bytes, "sound", 16000);
  std::vector<float> all, some(1000);
  for (std::size_t read = some.size(); read == some.size();) {
    read = stream.read(some);
    all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(read));
  }
  return all;
}

std::vector<float> heard_in_memory(const Bytes& file) {
  SoundStream stream(file, "sound", 16000);
  std::vector<float> all(static_cast<std::size_t>(stream.samples()));
  stream.read(all);
  return all;
}

TEST(PipeBytes, AreKeptForALittleWhileAndNobodyLooksAhead) {
  Bytes bytes(3'000'000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 >> 3);
  const Written pipe(bytes, 1000);
  const PipeBytes file(pipe.get(), "pipe");
  EXPECT_TRUE(file.is_endless());
  Bytes some(1000);
  const auto reads = [&](std::int64_t at) {
    return file.read(at, some) == some.size() &&
           std::equal(some.begin(), some.end(), bytes.begin() + at);
  };
  EXPECT_TRUE(reads(12)) << "past what nobody wanted";
  EXPECT_TRUE(reads(0));
  EXPECT_EQ(file.read(1'000'000, some), 0U) << "this would have to wait for the end";
  for (std::int64_t at = 500; at < 2'000'000; at += 700) ASSERT_TRUE(reads(at));
  EXPECT_TRUE(reads(1'990'000));
  EXPECT_EQ(file.read(5000, some), 0U);
  EXPECT_GT(file.size(), 1'000'000'000'000);
  Bytes rest(2'000'000);
  EXPECT_EQ(file.read(1'999'900, rest), 1'000'100U);
  EXPECT_TRUE(std::equal(rest.begin(), rest.begin() + 1'000'100, bytes.begin() + 1'999'900));
  EXPECT_EQ(file.size(), 3'000'000);
}

TEST(SoundInput, PiecesOfEverySizeAreTheSameSound) {
  for (const int rate : {16000, 44100}) {
    const auto samples = tone(rate, 440, 0.5);
    const auto whole = heard_in_memory(encode_sound(SoundFormat::kWav16, rate, 1, samples));
    for (const std::size_t piece : {1U, 2U, 3U, 511U, 1280U, 100'000U}) {
      const Written pipe(raw(samples), piece);
      const auto found = heard(pipe.get(), rate);
      ASSERT_NEAR(static_cast<double>(found.size()), static_cast<double>(whole.size()), 1) << piece;
      for (std::size_t i = 0; i < std::min(found.size(), whole.size()); ++i)
        ASSERT_NEAR(found[i], whole[i], 2.0 / 32768) << piece << " " << i;
    }
  }
}

TEST(SoundInput, APipeThatIsNotReadyIsWaitedFor) {
  const auto samples = tone(16000, 440, 0.5);
  const Written pipe(raw(samples), 3, O_CLOEXEC | O_NONBLOCK);
  EXPECT_EQ(heard(pipe.get(), 16000).size(), samples.size());
}

TEST(SoundInput, WavAndFlacComeThroughAPipeToo) {
  for (const auto format :
       {SoundFormat::kWav16, SoundFormat::kWav24, SoundFormat::kWavFloat, SoundFormat::kFlac}) {
    const Bytes file = encode_sound(format, 16000, 2, tone(16000, 440, 3, 2));
    const auto whole = heard_in_memory(file);
    for (const std::size_t piece : {5U, 4096U}) {
      const Written pipe(file, piece);
      EXPECT_EQ(heard(pipe.get(), 16000), whole) << static_cast<int>(format);
      const Written same(file, piece);
      EXPECT_EQ(heard(same.get(), std::nullopt), whole);
    }
    const Bytes cut(file.begin(), file.begin() + std::ssize(file) / 2);
    const Written pipe(cut, 4096);
    const auto part = heard(pipe.get(), 16000);
    EXPECT_GT(part.size(), whole.size() / 4);
    EXPECT_TRUE(std::equal(part.begin(), part.begin() + std::ssize(whole) / 4, whole.begin()));
  }
}

// As recorders that stream write it; behind samples of a length that is known lies no sound.
TEST(SoundInput, AWavFileMayTellNoLengthOrHaveMoreBehindIt) {
  const auto samples = tone(16000, 440, 1);
  Bytes file = encode_sound(SoundFormat::kWav16, 16000, 1, samples);
  const auto whole = heard_in_memory(file);
  Bytes more = file;
  for (const char c : std::string_view("LIST\4\0\0\0INFO", 12))
    more.push_back(static_cast<std::uint8_t>(c));
  const Written longer(more, 1000);
  EXPECT_EQ(heard(longer.get(), 16000), whole);
  for (const std::uint32_t told : {0U, 0x7ffff000U, 0x80000000U, 0xffffffffU}) {
    for (std::size_t i = 0; i < 4; ++i) file[40 + i] = static_cast<std::uint8_t>(told >> 8 * i);
    const Written pipe(file, 1000);
    EXPECT_EQ(heard(pipe.get(), 16000), whole) << told;
  }
}

TEST(SoundInput, ARegularFileIsReadAsAnyAndMayLackAHead) {
  const test::TempFolder folder;
  const auto samples = tone(16000, 440, 1);
  const Bytes bytes = raw(samples);
  const auto opened = [&](const Bytes& content) {
    test::write_bytes(folder / "sound", content);
    return UniqueFd(::open((folder / "sound").c_str(), O_RDONLY | O_CLOEXEC));
  };
  const auto whole = heard_in_memory(encode_sound(SoundFormat::kWav16, 16000, 1, samples));
  for (const std::size_t odd : {0U, 1U}) {
    Bytes content = bytes;
    content.resize(bytes.size() + odd);
    const UniqueFd file = opened(content);
    EXPECT_TRUE(sound_input(file.get(), 16000, "it").is_raw);
    EXPECT_EQ(heard(file.get(), 16000).size(), whole.size());
    expect_error(ErrorCode::kBadData, {"it: it is"}, [&] {
      const SoundStream stream(sound_input(file.get(), std::nullopt, "it").bytes, "it", 16000);
    });
  }
  for (const auto format : test::kSoundFormats) {
    const Bytes content = encode_sound(format, 16000, 1, samples);
    EXPECT_EQ(heard(opened(content).get(), std::nullopt), heard_in_memory(content));
  }
}

TEST(SoundInput, WhatIsNotHeard) {
  const auto refused = [](Bytes bytes, const std::string& why) {
    expect_error(ErrorCode::kBadData, {"it: " + why}, [&] {
      const Written pipe(std::move(bytes), 1000);
      const SoundStream stream(sound_input(pipe.get(), 16000, "it").bytes, "it", 16000);
    });
  };
  refused({}, "it is empty");
  refused(Bytes(600, 'a'), "it is text, no sound");
  refused(test::bytes_of(test::photo("") + std::string(600, '\1')), "it is a JPEG");
  refused(encode_sound(SoundFormat::kVorbis, 16000, 1, tone(16000, 440, 1)), "it is an Ogg");
  refused(test::bytes_of("ID3" + std::string(600, '\1')), "it is an MP3");
  refused(test::bytes_of("RIFF\1\2\3\4WAVE" + std::string(600, '\1')), "it cannot be read");
  const UniqueFd folder(::open("/", O_RDONLY | O_CLOEXEC));
  expect_error(ErrorCode::kInvalidArgument, {"it is a folder"},
               [&] { (void)sound_input(folder.get(), 16000, "it"); });
}

}  // namespace
}  // namespace moil::data
