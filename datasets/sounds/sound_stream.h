// A sound file as a stream of samples at a network's rate, whatever its own is.
//
// Its memory does not grow with the sound. One thread at a time.
#pragma once

#include <memory>
#include <vector>

#include "datasets/sounds/sound_file.h"

namespace moil::data {

class SoundStream {
 public:
  // As SoundFile.
  SoundStream(std::span<const std::uint8_t> bytes, std::string_view name, int rate);
  SoundStream(std::shared_ptr<const SoundBytes> bytes, std::string_view name, int rate);
  ~SoundStream();
  SoundStream(const SoundStream&) = delete;
  SoundStream& operator=(const SoundStream&) = delete;

  // floor(file's samples * rate / file's rate), at least 1; see SoundFile::samples().
  [[nodiscard]] std::int64_t samples();
  // The next samples; zeros behind the end. How many are the recording's.
  std::size_t read(std::span<float> out);
  void rewind();

  [[nodiscard]] const SoundFile& file() const { return file_; }

 private:
  struct Resampler;
  std::size_t resampled(std::span<float> out);

  SoundFile file_;
  int rate_;
  double ratio_;                          // of the rates, the network's over the file's
  std::unique_ptr<Resampler> resampler_;  // null: the rates are the same
  std::vector<float> input_;              // of the resampler
  std::span<const float> left_;           // of it, not used up
  bool ended_ = false;                    // the file
};

}  // namespace moil::data
