#include "datasets/sounds/sound_decoder.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "base/error.h"
#include "datasets/labels/media_type.h"
#include "datasets/sounds/sound_streams.h"

namespace moil::data {
namespace {

constexpr int kMostChannels = 64, kLowestRate = 1000, kHighestRate = 768000;
constexpr std::size_t kHeadBytes = 512;  // that tell what a file is

}  // namespace

SF_VIRTUAL_IO SoundDecoder::reading() {
  SF_VIRTUAL_IO io{};
  io.get_filelen = [](void* user) { return sf_count_t{static_cast<Place*>(user)->bytes.size()}; };
  io.seek = [](sf_count_t offset, int whence, void* user) -> sf_count_t {
    auto& place = *static_cast<Place*>(user);
    const sf_count_t end = place.bytes.size();
    sf_count_t base = 0;
    if (whence == SEEK_CUR) base = place.at;
    if (whence == SEEK_END) base = end;
    if (offset < -base || offset > end - base) return -1;
    return place.at = base + offset;
  };
  io.read = [](void* out, sf_count_t count, void* user) -> sf_count_t {
    auto& place = *static_cast<Place*>(user);
    const auto wanted = static_cast<std::size_t>(std::max<sf_count_t>(count, 0));
    const auto some = static_cast<sf_count_t>(
        place.bytes.read(place.at, {static_cast<std::uint8_t*>(out), wanted}));
    place.at += some;
    return some;
  };
  io.write = [](const void*, sf_count_t, void*) { return sf_count_t{0}; };
  io.tell = [](void* user) { return sf_count_t{static_cast<Place*>(user)->at}; };
  return io;
}

SoundDecoder::SoundDecoder(const SoundBytes& bytes, std::string_view name) : name_(name) {
  // libsndfile reads more kinds of files; only what is looked after is let in.
  std::array<std::uint8_t, kHeadBytes> head{};
  const std::string_view media = media_type_of(std::span(head).first(bytes.read(0, head)));
  if (!is_sound(media))
    fail("it is " + std::string(media_name(media)) +
         (media.starts_with("audio/") ? "; WAV, FLAC, Ogg and MP3 sounds are read" : ", no sound"));
  streams_ = streams_of(bytes);
  open(0);
  check_info();
  told_frames_ = container() == SF_FORMAT_FLAC ? samples_told_by_flac(bytes) : info_.frames;
  if (streams_.size() > 1) look_through();
}

void SoundDecoder::fail(const std::string& what) const {
  throw Error(ErrorCode::kBadData, name_ + ": " + what);
}

void SoundDecoder::open(std::size_t stream) {
  file_.reset();
  place_ = std::make_unique<Place>(Place{*streams_[stream]});
  info_ = {};
  SF_VIRTUAL_IO io = reading();
  file_.reset(::sf_open_virtual(&io, SFM_READ, &info_, place_.get()));
  if (file_ == nullptr) fail(std::string("it cannot be read: ") + ::sf_strerror(nullptr));
  stream_ = stream;
}

void SoundDecoder::check_info() const {
  if (channels() < 1 || channels() > kMostChannels)
    fail("it has " + std::to_string(channels()) + " channels; 1 to " +
         std::to_string(kMostChannels) + " are read");
  if (rate() < kLowestRate || rate() > kHighestRate)
    fail("it has " + std::to_string(rate()) + " samples a second; " + std::to_string(kLowestRate) +
         " to " + std::to_string(kHighestRate) + " are read");
}

// Streams behind one that cannot be opened are as if they were not there.
void SoundDecoder::look_through() {
  const SF_INFO first = info_;
  for (std::size_t i = 1; i < streams_.size(); ++i) {
    try {
      open(i);
    } catch (const Error&) {
      streams_.resize(i);
      break;
    }
    if (rate() != first.samplerate || channels() != first.channels)
      fail("its streams, one behind the other, differ: " + std::to_string(first.samplerate) +
           " samples a second of " + std::to_string(first.channels) + " channels, then " +
           std::to_string(rate()) + " of " + std::to_string(channels()));
    told_frames_ += std::min<std::int64_t>(info_.frames, SF_COUNT_MAX - told_frames_);
  }
  open(0);
}

template <class Sample>
sf_count_t SoundDecoder::read_on(sf_count_t (*from)(SNDFILE*, Sample*, sf_count_t), Sample* out,
                                 sf_count_t frames) {
  sf_count_t done = 0;
  while (done < frames) {
    const sf_count_t some = from(file_.get(), out + done * channels(), frames - done);
    if (some > 0) done += some;
    if (some > 0) continue;
    if (is_damaged() || stream_ + 1 == streams_.size()) break;
    open(stream_ + 1);
  }
  return done;
}

sf_count_t SoundDecoder::read(float* out, sf_count_t frames) {
  return read_on(::sf_readf_float, out, frames);
}
sf_count_t SoundDecoder::read(int* out, sf_count_t frames) {
  return read_on(::sf_readf_int, out, frames);
}
sf_count_t SoundDecoder::read(double* out, sf_count_t frames) {
  return read_on(::sf_readf_double, out, frames);
}

bool SoundDecoder::is_ambisonic() const {
  return ::sf_command(file_.get(), SFC_WAVEX_GET_AMBISONIC, nullptr, 0) == SF_AMBISONIC_B_FORMAT;
}

bool SoundDecoder::is_wav() const {
  return container() == SF_FORMAT_WAV || container() == SF_FORMAT_WAVEX ||
         container() == SF_FORMAT_RF64 || container() == SF_FORMAT_W64;
}

}  // namespace moil::data
