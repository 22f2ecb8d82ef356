#include "datasets/sounds/sound_file.h"

#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "datasets/labels/media_type.h"

namespace moil::data {
namespace {

constexpr std::size_t kFramesAtOnce = 4096;
constexpr int kMostChannels = 64, kLowestRate = 1000, kHighestRate = 768000;

// A file in memory, as libsndfile reads one.
struct Memory {
  std::span<const std::uint8_t> bytes;
  sf_count_t at = 0;
};

sf_count_t length(void* user) {
  return static_cast<sf_count_t>(static_cast<Memory*>(user)->bytes.size());
}

sf_count_t seek(sf_count_t offset, int whence, void* user) {
  auto& memory = *static_cast<Memory*>(user);
  const sf_count_t end = length(user);
  sf_count_t base = 0;
  if (whence == SEEK_CUR) base = memory.at;
  if (whence == SEEK_END) base = end;
  if (offset < -base || offset > end - base) return -1;
  return memory.at = base + offset;
}

sf_count_t read_bytes(void* out, sf_count_t count, void* user) {
  auto& memory = *static_cast<Memory*>(user);
  const sf_count_t some = std::clamp<sf_count_t>(count, 0, length(user) - memory.at);
  std::memcpy(out, memory.bytes.data() + memory.at, static_cast<std::size_t>(some));
  memory.at += some;
  return some;
}

sf_count_t write_nothing(const void*, sf_count_t, void*) { return 0; }

sf_count_t tell(void* user) { return static_cast<Memory*>(user)->at; }

float mean_of(const float* channels, int count) {
  double sum = 0;
  for (int c = 0; c < count; ++c) {
    const float value = channels[c];
    if (std::isfinite(value)) sum += static_cast<double>(std::clamp(value, -1.0F, 1.0F));
  }
  return static_cast<float>(sum / count);
}

}  // namespace

struct SoundFile::Decoder {
  Memory memory;
  SF_INFO info{};
  SNDFILE* file = nullptr;

  explicit Decoder(std::span<const std::uint8_t> bytes) : memory{bytes} {
    SF_VIRTUAL_IO io{length, seek, read_bytes, write_nothing, tell};
    file = ::sf_open_virtual(&io, SFM_READ, &info, &memory);
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() {
    if (file != nullptr) ::sf_close(file);
  }
};

SoundFile::SoundFile(std::span<const std::uint8_t> bytes, std::string_view name) : name_(name) {
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::kBadData, name_ + ": " + what);
  };
  // libsndfile reads more kinds of files; only what is looked after is let in.
  const std::string_view media = media_type_of(bytes);
  if (!is_sound(media)) fail("it is " + std::string(media_name(media)) + ", no sound");
  decoder_ = std::make_unique<Decoder>(bytes);
  if (decoder_->file == nullptr) fail(std::string("it cannot be read: ") + ::sf_strerror(nullptr));
  const SF_INFO& info = decoder_->info;
  if (info.channels < 1 || info.channels > kMostChannels)
    fail("it has " + std::to_string(info.channels) + " channels; 1 to " +
         std::to_string(kMostChannels) + " are read");
  if (info.samplerate < kLowestRate || info.samplerate > kHighestRate)
    fail("it has " + std::to_string(info.samplerate) + " samples a second; " +
         std::to_string(kLowestRate) + " to " + std::to_string(kHighestRate) + " are read");
  frames_.resize(kFramesAtOnce * static_cast<std::size_t>(info.channels));
  if (::sf_readf_float(decoder_->file, frames_.data(), 1) != 1) fail("it holds no sound");
  rewind();
}

SoundFile::~SoundFile() = default;

int SoundFile::rate() const { return decoder_->info.samplerate; }

// Numbers as they are lie in the file, and their header is cut to what there is. What is compressed
// has to be gone through: a header may tell of more than a cut file holds.
bool SoundFile::tells_samples() const {
  const int major = decoder_->info.format & SF_FORMAT_TYPEMASK;
  const int coding = decoder_->info.format & SF_FORMAT_SUBMASK;
  const bool wav = major == SF_FORMAT_WAV || major == SF_FORMAT_WAVEX || major == SF_FORMAT_RF64;
  return wav &&
         (coding == SF_FORMAT_PCM_U8 || coding == SF_FORMAT_PCM_16 || coding == SF_FORMAT_PCM_24 ||
          coding == SF_FORMAT_PCM_32 || coding == SF_FORMAT_FLOAT || coding == SF_FORMAT_DOUBLE);
}

std::int64_t SoundFile::samples() {
  if (samples_ >= 0) return samples_;
  const std::int64_t most = kMostSoundSeconds * rate();
  std::int64_t counted = 0;
  if (tells_samples()) {
    counted = decoder_->info.frames;
  } else {
    for (sf_count_t some = 1; some > 0 && counted <= most; counted += some)
      some =
          std::max<sf_count_t>(0, ::sf_readf_float(decoder_->file, frames_.data(), kFramesAtOnce));
    rewind();
  }
  if (counted > most)
    throw Error(ErrorCode::kBadData, name_ + ": it is longer than a day, which is not read");
  return samples_ = counted;
}

std::size_t SoundFile::read(std::span<float> out) {
  const int channels = decoder_->info.channels;
  std::size_t done = 0;
  while (done < out.size()) {
    const auto wanted = static_cast<sf_count_t>(std::min(kFramesAtOnce, out.size() - done));
    const sf_count_t some = ::sf_readf_float(decoder_->file, frames_.data(), wanted);
    if (some <= 0) break;
    for (sf_count_t i = 0; i < some; ++i)
      out[done++] = mean_of(frames_.data() + i * channels, channels);
  }
  return done;
}

// Anew: libsndfile does not survive going back in some files that are cut off.
void SoundFile::rewind() {
  decoder_ = std::make_unique<Decoder>(decoder_->memory.bytes);
  if (decoder_->file == nullptr)
    throw Error(ErrorCode::kBadData, name_ + ": it cannot be read a second time");
}

}  // namespace moil::data
