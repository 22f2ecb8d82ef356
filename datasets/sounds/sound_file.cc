#include "datasets/sounds/sound_file.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "datasets/sounds/sound_decoder.h"

namespace moil::data {
namespace {

constexpr std::size_t kFramesAtOnce = 4096;

float as_number(float value) {
  return std::isfinite(value) ? std::clamp(value, -kLoudest, kLoudest) : 0;
}

}  // namespace

SoundFile::SoundFile(std::span<const std::uint8_t> bytes, std::string_view name)
    : SoundFile(std::make_shared<SoundBytesInMemory>(bytes), name) {}

SoundFile::SoundFile(std::shared_ptr<const SoundBytes> bytes, std::string_view name)
    : bytes_(std::move(bytes)),
      decoder_(std::make_unique<SoundDecoder>(*bytes_, name)),
      name_(name),
      is_ambisonic_(decoder_->is_ambisonic()) {
  frames_.resize(kFramesAtOnce * static_cast<std::size_t>(decoder_->channels()));
  if (bytes_->is_endless()) return;
  if (decoder_->read(frames_.data(), 1) != 1)
    throw Error(ErrorCode::kBadData, name_ + ": it holds no sound");
  rewind();
}

SoundFile::~SoundFile() = default;

int SoundFile::rate() const { return decoder_->rate(); }

int SoundFile::channels() const { return is_ambisonic_ ? 1 : decoder_->channels(); }

// Numbers as they are lie in the file, and their header is cut to what there is; the last page of
// an Ogg file tells where it ends, and of one that is cut off nothing is told. Anything else has to
// be gone through: a header may tell of more than a cut file holds.
bool SoundFile::tells_samples() const {
  const int coding = decoder_->coding();
  if (decoder_->is_ogg()) return decoder_->told_frames() <= kMostSoundSeconds * rate();
  return decoder_->is_wav() &&
         (coding == SF_FORMAT_PCM_U8 || coding == SF_FORMAT_PCM_16 || coding == SF_FORMAT_PCM_24 ||
          coding == SF_FORMAT_PCM_32 || coding == SF_FORMAT_FLOAT || coding == SF_FORMAT_DOUBLE);
}

std::int64_t SoundFile::samples() {
  if (samples_ >= 0) return samples_;
  const std::int64_t most = kMostSoundSeconds * rate();
  std::int64_t counted = 0;
  if (tells_samples()) {
    counted = decoder_->told_frames();
  } else {
    for (sf_count_t some = 1; some > 0 && counted <= most; counted += some)
      some = decoder_->read(frames_.data(), kFramesAtOnce);
    rewind();
  }
  if (counted > most)
    throw Error(ErrorCode::kBadData, name_ + ": it is longer than a day, which is not read");
  return samples_ = counted;
}

std::size_t SoundFile::read(std::span<float> out) {
  const int channels = decoder_->channels();
  std::size_t done = 0;
  while (done < out.size()) {
    const auto wanted = static_cast<sf_count_t>(std::min(kFramesAtOnce, out.size() - done));
    const sf_count_t some = decoder_->read(frames_.data(), wanted);
    if (some <= 0) break;
    for (sf_count_t i = 0; i < some; ++i)
      out[done++] = mixed(frames_.data() + i * channels, channels);
  }
  return done;
}

float SoundFile::mixed(const float* channels, int count) {
  if (is_ambisonic_) return as_number(channels[0]);
  double sum = 0, squares = 0;
  for (int c = 0; c < count; ++c) {
    const double value = double{as_number(channels[c])};
    sum += value;
    squares += value * value;
  }
  const double mean = sum / count;
  energy_ += mean * mean;
  channels_energy_ += squares / count;
  return static_cast<float>(mean);
}

void SoundFile::rewind() {
  decoder_ = std::make_unique<SoundDecoder>(*bytes_, name_);
  energy_ = channels_energy_ = 0;
}

}  // namespace moil::data
