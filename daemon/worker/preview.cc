#include "daemon/worker/preview.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "daemon/methods/sample_content.h"
#include "datasets/images/codec.h"
#include "datasets/transforms/resample.h"

namespace moil::worker {
namespace {

using daemon::Json;

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

Json preview(const std::vector<std::uint8_t>& bytes, int size) {
  const data::Image image = shrunk(decoded(bytes, size), size);
  const auto jpeg = data::encode_jpeg(image, kQuality);
  return {
      {"jpeg", daemon::encode_base64({reinterpret_cast<const char*>(jpeg.data()), jpeg.size()})},
      {"width", image.width},
      {"height", image.height}};
}

}  // namespace

Json previews(const std::vector<ReadImage>& images, int size) {
  Json all = Json::array();
  for (const ReadImage& read : images) {
    try {
      all.push_back(preview(read(), size));
    } catch (const Error& error) {
      all.push_back({{"error", {{"code", to_string(error.code())}, {"message", error.what()}}}});
    }
  }
  return all;
}

}  // namespace moil::worker
