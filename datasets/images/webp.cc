#include <webp/decode.h>

#include "datasets/images/codec.h"

namespace moil::data {

void decode_webp(std::span<const std::uint8_t> encoded, std::string_view name, Image& image,
                 const DecodeLimits& limits) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(encoded.data(), encoded.size(), &features) != VP8_STATUS_OK)
    bad_image(name, "the WebP file is truncated or damaged");
  if (features.has_animation) bad_image(name, "an animation; only still images are taken");
  check_dimensions(name, static_cast<std::uint64_t>(features.width),
                   static_cast<std::uint64_t>(features.height), limits);
  image.resize(features.width, features.height, features.has_alpha ? 4 : 3);
  const auto decode = features.has_alpha ? WebPDecodeRGBAInto : WebPDecodeRGBInto;
  if (decode(encoded.data(), encoded.size(), image.pixels.data(), image.pixels.size(),
             static_cast<int>(image.row_bytes())) == nullptr)
    bad_image(name, "the WebP file is truncated or damaged");
}

}  // namespace moil::data
