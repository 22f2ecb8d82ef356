// JPEG (libjpeg-turbo) and PNG (libpng) to and from pixels, WebP (libwebp) to pixels.
//
// Strangers' bytes: dimensions are read from the header and held against the limits before memory
// is taken; whatever is truncated or damaged is kBadData, with the name in the message. All
// functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "datasets/images/image.h"

namespace moil::data {

// Limits decoded images. Larger ones are refused, but a JPEG of one scan (not a progressive one) is
// decoded at a half, a quarter or an eighth of its sides if that is within the limit.
struct DecodeLimits {
  std::uint64_t max_pixels = 64'000'000;
};

// Decodes by the first bytes of the content. `name` is what an error calls the image. Gives 1
// channel (grey) or 3 (RGB), upright by the EXIF orientation that JPEG, PNG (eXIf) and WebP (EXIF)
// may hold. CMYK becomes RGB, palettes are expanded, 16 bits become 8; then what is transparent is
// composited on white (canvas.h), so that colours under full transparency mean nothing. The image's
// memory is reused.
//
// A JPEG whose coded pixels are damaged is refused if the decoder would go on with what it can
// guess; what costs no pixel (stray bytes between segments, an unknown minor version) is let pass.
void decode_image(std::span<const std::uint8_t> encoded, std::string_view name, Image& image,
                  const DecodeLimits& limits = {});
[[nodiscard]] Image decode_image(std::span<const std::uint8_t> encoded, std::string_view name,
                                 const DecodeLimits& limits = {});

// What decoding will give and take, by the header alone: the first bytes of a file do, up to its
// pixels; kBadData if they end before, or if decode_image would refuse the header.
struct ImageHeader {
  int width = 0, height = 0;       // as stored; the image is turned if its orientation says so
  int channels = 0;                // of the image
  std::size_t decoding_bytes = 0;  // at most, the image included and the encoded bytes not
};
[[nodiscard]] ImageHeader read_image_header(std::span<const std::uint8_t> encoded,
                                            std::string_view name, const DecodeLimits& limits = {});

// One format each.
void decode_jpeg(std::span<const std::uint8_t> encoded, std::string_view name, Image& image,
                 const DecodeLimits& limits = {});
void decode_png(std::span<const std::uint8_t> encoded, std::string_view name, Image& image,
                const DecodeLimits& limits = {});
void decode_webp(std::span<const std::uint8_t> encoded, std::string_view name, Image& image,
                 const DecodeLimits& limits = {});
[[nodiscard]] ImageHeader read_jpeg_header(std::span<const std::uint8_t> encoded,
                                           std::string_view name, const DecodeLimits& limits);
[[nodiscard]] ImageHeader read_png_header(std::span<const std::uint8_t> encoded,
                                          std::string_view name, const DecodeLimits& limits);
[[nodiscard]] ImageHeader read_webp_header(std::span<const std::uint8_t> encoded,
                                           std::string_view name, const DecodeLimits& limits);

// Lossless. The same image gives the same bytes with the same libpng and zlib.
[[nodiscard]] std::vector<std::uint8_t> encode_png(const Image& image);
// quality 1 to 100; 1 or 3 channels.
[[nodiscard]] std::vector<std::uint8_t> encode_jpeg(const Image& image, int quality);

// For the codecs: the error for a damaged image, and the check of its dimensions.
[[noreturn]] void bad_image(std::string_view name, std::string_view what);
void check_dimensions(std::string_view name, std::uint64_t width, std::uint64_t height,
                      const DecodeLimits& limits);

}  // namespace moil::data
