// Sound files: WAV, FLAC, Ogg (Vorbis, Opus) and MP3, from memory, as one channel.
//
// Channels are averaged; of ambisonic ones the first is the sound from all around. A sample that is
// no number counts as silence; those of floats may be beyond -1 and 1, and go through as they are,
// up to kLoudest. What a cut file still holds counts; one that holds nothing is an error.
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
inline constexpr float kLoudest = 65536;

class SoundBytes;
class SoundDecoder;

class SoundFile {
 public:
  // `bytes` outlive it. kBadData, beginning with `name`, for what is no such file or holds no
  // sound; whether a pipe holds any, its end shows. It is read once: samples() and rewind() are for
  // files.
  SoundFile(std::span<const std::uint8_t> bytes, std::string_view name);
  SoundFile(std::shared_ptr<const SoundBytes> bytes, std::string_view name);
  ~SoundFile();
  SoundFile(const SoundFile&) = delete;
  SoundFile& operator=(const SoundFile&) = delete;

  int rate() const;  // samples a second
  // The whole file has these. What is compressed is decoded once to tell.
  std::int64_t samples();
  // The next samples; fewer than asked for at the end alone.
  std::size_t read(std::span<float> out);
  void rewind();

  // How much of the channels' energy the mix of what was read since the beginning has, 1 if they
  // agree. Some that have nothing to do with each other leave one over their number, and such as
  // cancel each other nothing.
  double energy_left() const { return channels_energy_ > 0 ? energy_ / channels_energy_ : 1; }
  int channels() const;

 private:
  bool tells_samples() const;
  float mixed(const float* channels, int count);

  std::shared_ptr<const SoundBytes> bytes_;
  std::unique_ptr<SoundDecoder> decoder_;
  std::string name_;
  std::vector<float> frames_;  // of all channels
  std::int64_t samples_ = -1;  // not known yet
  bool is_ambisonic_ = false;
  double energy_ = 0, channels_energy_ = 0;  // the latter of a channel, on average
};

}  // namespace moil::data
