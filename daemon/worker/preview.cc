#include "daemon/worker/preview.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/error.h"
#include "daemon/json/base64.h"
#include "datasets/images/codec.h"
#include "datasets/kinds/sound/sound_kind.h"
#include "datasets/labels/media_type.h"
#include "datasets/sounds/sound_outline.h"
#include "datasets/transforms/resample.h"

namespace moil::worker {
namespace {

constexpr const char* kName = "the sample";
constexpr int kQuality = 80;

// A large JPEG is decoded at a part of its sides, which is many times quicker; what cannot be, as
// it is.
data::Image decoded(const std::vector<std::uint8_t>& bytes, int size) {
  const auto side = static_cast<std::uint64_t>(4 * size);
  try {
    return data::decode_image(bytes, kName, {.max_pixels = side * side});
  } catch (const Error&) {
    return data::decode_image(bytes, kName);
  }
}

data::Image shrunk(data::Image image, int size) {
  const double scale =
      std::min(1.0, static_cast<double>(size) / std::max(image.width, image.height));
  if (scale == 1) return image;
  const auto scaled = [&](int side) {
    return std::max(1, static_cast<int>(std::lround(side * scale)));
  };
  const int width = scaled(image.width), height = scaled(image.height);
  data::Image result;
  data::Resampler().resize(image, width, height, data::Filter::kBilinear, {0, 0, width, height},
                           result);
  return result;
}

// The outline around a middle line, light on dark, the loudest swing nearly as high as the picture.
data::Image drawn(const data::SoundOutline& outline, int size) {
  constexpr std::array<std::uint8_t, 3> kGround = {34, 39, 45}, kInk = {108, 178, 255};
  constexpr float kQuietest = 0.01F;  // below it noise would fill the picture
  float loudest = kQuietest;
  for (const auto& swing : outline.swings) loudest = std::max({loudest, swing.high, -swing.low});
  data::Image image;
  image.resize(size, std::max(1, size / 2), 3);
  const auto row_of = [&](float value) {
    const float place = (1 - 0.9F * value / loudest) / 2 * static_cast<float>(image.height);
    return std::clamp(static_cast<int>(place), 0, image.height - 1);
  };
  const std::size_t count = outline.swings.size();
  for (int x = 0; x < image.width; ++x) {
    const std::size_t at = static_cast<std::size_t>(x) * count / static_cast<std::size_t>(size);
    const std::size_t end =
        (static_cast<std::size_t>(x) + 1) * count / static_cast<std::size_t>(size);
    float low = 0, high = 0;
    for (std::size_t i = at; i < std::max(at + 1, end); ++i) {
      low = std::min(low, outline.swings[i].low);
      high = std::max(high, outline.swings[i].high);
    }
    const int top = row_of(high), bottom = row_of(low);
    for (int y = 0; y < image.height; ++y) {
      const auto& colour = y >= top && y <= bottom ? kInk : kGround;
      std::ranges::copy(colour, image.pixels.begin() + 3 * (y * image.width + x));
    }
  }
  return image;
}

Json to_json(const data::Image& image) {
  const auto jpeg = data::encode_jpeg(image, kQuality);
  return {
      {"jpeg", daemon::encode_base64({reinterpret_cast<const char*>(jpeg.data()), jpeg.size()})},
      {"width", image.width},
      {"height", image.height}};
}

Json preview(const std::vector<std::uint8_t>& bytes, int size) {
  if (!data::is_sound(data::media_type_of(bytes)))
    return to_json(shrunk(decoded(bytes, size), size));
  data::SoundFile sound(bytes, kName);
  const auto outline =
      data::outline_of(sound, 4 * static_cast<std::size_t>(size), kMostShownSeconds);
  Json preview = to_json(drawn(outline, size));
  preview["seconds"] = outline.seconds;
  preview["silent"] = data::silent_share(outline, data::kSoundFloor);
  return preview;
}

}  // namespace

Json previews(const std::vector<ReadSample>& samples, int size) {
  Json all = Json::array();
  for (const ReadSample& read : samples) {
    try {
      all.push_back(preview(read(), size));
    } catch (const Error& error) {
      all.push_back({{"error", {{"code", to_string(error.code())}, {"message", error.what()}}}});
    }
  }
  return all;
}

}  // namespace moil::worker
