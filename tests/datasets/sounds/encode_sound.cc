#include "tests/datasets/sounds/encode_sound.h"

#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>
#include <stdexcept>

namespace moil::data::test {
namespace {

struct Written {
  std::vector<std::uint8_t> bytes;
  sf_count_t at = 0;
};

Written& of(void* user) { return *static_cast<Written*>(user); }

sf_count_t length(void* user) { return static_cast<sf_count_t>(of(user).bytes.size()); }
sf_count_t seek(sf_count_t offset, int whence, void* user) {
  const sf_count_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? of(user).at : length(user);
  return of(user).at = base + offset;
}
sf_count_t read(void* out, sf_count_t count, void* user) {
  const sf_count_t some = std::min(count, length(user) - of(user).at);
  std::memcpy(out, of(user).bytes.data() + of(user).at, static_cast<std::size_t>(some));
  of(user).at += some;
  return some;
}
sf_count_t write(const void* from, sf_count_t count, void* user) {
  Written& w = of(user);
  const auto end = static_cast<std::size_t>(w.at + count);
  if (w.bytes.size() < end) w.bytes.resize(end);
  std::memcpy(w.bytes.data() + w.at, from, static_cast<std::size_t>(count));
  w.at += count;
  return count;
}
sf_count_t tell(void* user) { return of(user).at; }

int code_of(SoundFormat format) {
  switch (format) {
    case SoundFormat::kWav16:
      return SF_FORMAT_WAV | SF_FORMAT_PCM_16;
    case SoundFormat::kWav24:
      return SF_FORMAT_WAV | SF_FORMAT_PCM_24;
    case SoundFormat::kWavFloat:
      return SF_FORMAT_WAV | SF_FORMAT_FLOAT;
    case SoundFormat::kFlac:
      return SF_FORMAT_FLAC | SF_FORMAT_PCM_16;
    case SoundFormat::kVorbis:
      return SF_FORMAT_OGG | SF_FORMAT_VORBIS;
    case SoundFormat::kOpus:
      return SF_FORMAT_OGG | SF_FORMAT_OPUS;
    case SoundFormat::kMp3:
      return SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III;
  }
  return 0;
}

std::vector<std::uint8_t> encoded(int code, int rate, int channels,
                                  const std::vector<float>& samples, bool is_ambisonic) {
  Written written;
  SF_VIRTUAL_IO io{length, seek, read, write, tell};
  SF_INFO info{};
  info.samplerate = rate;
  info.channels = channels;
  info.format = code;
  SNDFILE* file = ::sf_open_virtual(&io, SFM_WRITE, &info, &written);
  if (file == nullptr) throw std::runtime_error(::sf_strerror(nullptr));
  if (is_ambisonic) ::sf_command(file, SFC_WAVEX_SET_AMBISONIC, nullptr, SF_AMBISONIC_B_FORMAT);
  const auto frames = static_cast<sf_count_t>(samples.size()) / channels;
  constexpr sf_count_t kAtOnce = 4096;  // libvorbis takes all of it from the stack
  for (sf_count_t done = 0; done < frames; done += kAtOnce) {
    const sf_count_t some = std::min(kAtOnce, frames - done);
    if (::sf_writef_float(file, samples.data() + done * channels, some) != some)
      throw std::runtime_error("the sound cannot be written");
  }
  ::sf_close(file);
  return written.bytes;
}

}  // namespace

std::vector<std::uint8_t> encode_sound(SoundFormat format, int rate, int channels,
                                       const std::vector<float>& samples) {
  return encoded(code_of(format), rate, channels, samples, false);
}

std::vector<std::uint8_t> encode_ambisonic(int rate, const std::vector<float>& samples) {
  return encoded(SF_FORMAT_WAVEX | SF_FORMAT_FLOAT, rate, 4, samples, true);
}

std::vector<std::uint8_t> encode_w64(int rate, const std::vector<float>& samples) {
  return encoded(SF_FORMAT_W64 | SF_FORMAT_PCM_16, rate, 1, samples, false);
}

std::vector<float> tone(int rate, double hertz, double seconds, int channels) {
  std::vector<float> samples;
  for (int i = 0; i < static_cast<int>(seconds * rate); ++i)
    samples.insert(samples.end(), static_cast<std::size_t>(channels),
                   static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * hertz * i / rate)));
  return samples;
}

}  // namespace moil::data::test
