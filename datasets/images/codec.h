// JPEG (libjpeg-turbo) and PNG (libpng) to and from pixels, WebP (libwebp) to pixels.
//
// Strangers' bytes: dimensions are read from the header and held against the limits before memory
// is taken; whatever is truncated or damaged is kBadData, with the name in the message. All
// functions may be called from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "datasets/images/image.h"

namespace moil::data {

// Of a decoded image. Larger ones are refused, but a JPEG that is not progressive is decoded at a
// half, a quarter or an eighth of its sides where that is within the limit.
struct DecodeLimits {
  std::uint64_t max_pixels = 64'000'000;
};

// Decodes by the first bytes of the content. `name` is what an error calls the image. JPEG gives 1
// or 3 channels (CMYK becomes RGB) and is turned upright by its EXIF orientation, PNG 1, 3 or 4
// (palettes are expanded, 16 bits become 8, grey with alpha becomes RGBA), WebP 3 or 4. The image's
// memory is reused.
void decode_image(std::span<const std::uint8_t> encoded, std::string_view name, Image& image,
                  const DecodeLimits& limits = {});
[[nodiscard]] Image decode_image(std::span<const std::uint8_t> encoded, std::string_view name,
                                 const DecodeLimits& limits = {});

// One format each; a JPEG's orientation is left as it is.
void decode_jpeg(std::span<const std::uint8_t> encoded, std::string_view name, Image& image,
                 const DecodeLimits& limits = {});
void decode_png(std::span<const std::uint8_t> encoded, std::string_view name, Image& image,
                const DecodeLimits& limits = {});
void decode_webp(std::span<const std::uint8_t> encoded, std::string_view name, Image& image,
                 const DecodeLimits& limits = {});

// Lossless. The same image gives the same bytes with the same libpng and zlib.
[[nodiscard]] std::vector<std::uint8_t> encode_png(const Image& image);
// quality 1 to 100; 1 or 3 channels.
[[nodiscard]] std::vector<std::uint8_t> encode_jpeg(const Image& image, int quality);

// For the codecs: the error for a damaged image, and the check of its dimensions.
[[noreturn]] void bad_image(std::string_view name, std::string_view what);
void check_dimensions(std::string_view name, std::uint64_t width, std::uint64_t height,
                      const DecodeLimits& limits);

}  // namespace moil::data
