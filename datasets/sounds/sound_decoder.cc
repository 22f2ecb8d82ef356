#include "datasets/sounds/sound_decoder.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "base/error.h"
#include "datasets/labels/media_type.h"

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

SoundDecoder::SoundDecoder(const SoundBytes& bytes, std::string_view name)
    : place_(std::make_unique<Place>(Place{bytes})) {
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::kBadData, std::string(name) + ": " + what);
  };
  // libsndfile reads more kinds of files; only what is looked after is let in.
  std::array<std::uint8_t, kHeadBytes> head{};
  const std::string_view media = media_type_of(std::span(head).first(bytes.read(0, head)));
  if (!is_sound(media)) fail("it is " + std::string(media_name(media)) + ", no sound");
  SF_VIRTUAL_IO io = reading();
  file_.reset(::sf_open_virtual(&io, SFM_READ, &info_, place_.get()));
  if (file_ == nullptr) fail(std::string("it cannot be read: ") + ::sf_strerror(nullptr));
  if (channels() < 1 || channels() > kMostChannels)
    fail("it has " + std::to_string(channels()) + " channels; 1 to " +
         std::to_string(kMostChannels) + " are read");
  if (rate() < kLowestRate || rate() > kHighestRate)
    fail("it has " + std::to_string(rate()) + " samples a second; " + std::to_string(kLowestRate) +
         " to " + std::to_string(kHighestRate) + " are read");
}

bool SoundDecoder::is_wav() const {
  return container() == SF_FORMAT_WAV || container() == SF_FORMAT_WAVEX ||
         container() == SF_FORMAT_RF64;
}

}  // namespace moil::data
