#include "datasets/images/codec.h"

#include <string>

#include "base/error.h"
#include "datasets/labels/media_type.h"

namespace moil::data {

void bad_image(std::string_view name, std::string_view what) {
  throw Error(ErrorCode::kBadData, std::string(name) + ": " + std::string(what));
}

void check_dimensions(std::string_view name, std::uint64_t width, std::uint64_t height,
                      const DecodeLimits& limits) {
  if (width == 0 || height == 0) bad_image(name, "the image has no pixels");
  if (height <= limits.max_pixels / width) return;
  bad_image(name, "the image is " + std::to_string(width) + "x" + std::to_string(height) +
                      ", at most " + std::to_string(limits.max_pixels) + " pixels are taken");
}

namespace {

[[noreturn]] void unknown_image(std::span<const std::uint8_t> encoded, std::string_view name) {
  bad_image(name, encoded.empty() ? "the file is empty" : "neither JPEG, PNG nor WebP");
}

}  // namespace

void decode_image(std::span<const std::uint8_t> encoded, std::string_view name, Image& image,
                  const DecodeLimits& limits) {
  const auto type = media_type_of(encoded);
  if (type == kJpeg) return decode_jpeg(encoded, name, image, limits);
  if (type == kPng) return decode_png(encoded, name, image, limits);
  if (type == kWebp) return decode_webp(encoded, name, image, limits);
  unknown_image(encoded, name);
}

ImageHeader read_image_header(std::span<const std::uint8_t> encoded, std::string_view name,
                              const DecodeLimits& limits) {
  const auto type = media_type_of(encoded);
  if (type == kJpeg) return read_jpeg_header(encoded, name, limits);
  if (type == kPng) return read_png_header(encoded, name, limits);
  if (type == kWebp) return read_webp_header(encoded, name, limits);
  unknown_image(encoded, name);
}

Image decode_image(std::span<const std::uint8_t> encoded, std::string_view name,
                   const DecodeLimits& limits) {
  Image image;
  decode_image(encoded, name, image, limits);
  return image;
}

}  // namespace moil::data
