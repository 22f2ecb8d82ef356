// WebP files made by the tests.
#pragma once

#include <webp/encode.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "datasets/images/image.h"

namespace moil::data::test {

// 3 or 4 channels; lossless if every visible pixel is to come back as it was.
inline std::vector<std::uint8_t> encode_webp(const Image& image, bool lossless = true) {
  std::uint8_t* raw = nullptr;
  const int stride = static_cast<int>(image.row_bytes());
  const auto* p = image.pixels.data();
  const bool alpha = image.channels == 4;
  const auto whole = alpha ? WebPEncodeLosslessRGBA : WebPEncodeLosslessRGB;
  const auto close = alpha ? WebPEncodeRGBA : WebPEncodeRGB;
  const std::size_t size = lossless ? whole(p, image.width, image.height, stride, &raw)
                                    : close(p, image.width, image.height, stride, 80, &raw);
  const std::unique_ptr<std::uint8_t, decltype(&WebPFree)> owner(raw, WebPFree);
  return {raw, raw + size};
}

}  // namespace moil::data::test
