#include "datasets/images/codec.h"

#include <string>

#include "base/error.h"
#include "datasets/images/orientation.h"
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

void decode_image(std::span<const std::uint8_t> encoded, std::string_view name, Image& image,
                  const DecodeLimits& limits) {
  const auto type = media_type_of(encoded);
  if (type == kJpeg) {
    decode_jpeg(encoded, name, image, limits);
    return apply_orientation(exif_orientation(encoded), image);
  }
  if (type == kPng) return decode_png(encoded, name, image, limits);
  if (type == kWebp) return decode_webp(encoded, name, image, limits);
  if (encoded.empty()) bad_image(name, "the file is empty");
  bad_image(name, "neither JPEG, PNG nor WebP");
}

Image decode_image(std::span<const std::uint8_t> encoded, std::string_view name,
                   const DecodeLimits& limits) {
  Image image;
  decode_image(encoded, name, image, limits);
  return image;
}

}  // namespace moil::data
