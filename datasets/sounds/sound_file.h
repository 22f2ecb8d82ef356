// Sound files: WAV, FLAC, Ogg (Vorbis, Opus) and MP3, from memory, as one channel.
//
// Channels are averaged. A sample that is no number counts as silence, and one beyond -1 or 1,
// which a file of floats may hold, as these. What a cut file still holds counts; one that holds
// nothing is an error.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace moil::data {

// Longer ones are refused: a day.
inline constexpr std::int64_t kMostSoundSeconds = 86400;

class SoundBytes;
class SoundDecoder;

class SoundFile {
 public:
  // `bytes` outlive it. kBadData, beginning with `name`, for what is no such file or holds no
  // sound.
  SoundFile(std::span<const std::uint8_t> bytes, std::string_view name);
  ~SoundFile();
  SoundFile(const SoundFile&) = delete;
  SoundFile& operator=(const SoundFile&) = delete;

  int rate() const;  // samples a second
  // Of the whole file. What is compressed is decoded once to tell.
  std::int64_t samples();
  // The next samples, from -1 to 1; fewer than asked for at the end alone.
  std::size_t read(std::span<float> out);
  void rewind();

 private:
  bool tells_samples() const;

  std::unique_ptr<SoundBytes> bytes_;
  std::unique_ptr<SoundDecoder> decoder_;
  std::string name_;
  std::vector<float> frames_;  // of all channels
  std::int64_t samples_ = -1;  // not known yet
};

}  // namespace moil::data
