#include "datasets/sounds/sound_file.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "datasets/sounds/sound_decoder.h"

namespace moil::data {
namespace {

constexpr std::size_t kFramesAtOnce = 4096;

float mean_of(const float* channels, int count) {
  double sum = 0;
  for (int c = 0; c < count; ++c) {
    const float value = channels[c];
    if (std::isfinite(value)) sum += static_cast<double>(std::clamp(value, -1.0F, 1.0F));
  }
  return static_cast<float>(sum / count);
}

}  // namespace

SoundFile::SoundFile(std::span<const std::uint8_t> bytes, std::string_view name)
    : bytes_(std::make_unique<SoundBytesInMemory>(bytes)),
      decoder_(std::make_unique<SoundDecoder>(*bytes_, name)),
      name_(name) {
  frames_.resize(kFramesAtOnce * static_cast<std::size_t>(decoder_->channels()));
  if (::sf_readf_float(decoder_->file(), frames_.data(), 1) != 1)
    throw Error(ErrorCode::kBadData, name_ + ": it holds no sound");
  rewind();
}

SoundFile::~SoundFile() = default;

int SoundFile::rate() const { return decoder_->rate(); }

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
      some = std::max<sf_count_t>(
          0, ::sf_readf_float(decoder_->file(), frames_.data(), kFramesAtOnce));
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
    const sf_count_t some = ::sf_readf_float(decoder_->file(), frames_.data(), wanted);
    if (some <= 0) break;
    for (sf_count_t i = 0; i < some; ++i)
      out[done++] = mean_of(frames_.data() + i * channels, channels);
  }
  return done;
}

void SoundFile::rewind() { decoder_ = std::make_unique<SoundDecoder>(*bytes_, name_); }

}  // namespace moil::data
