#include "base/error.h"
#include "datasets/images/codec.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/trials.h"

namespace moil::test {

bool try_image(std::span<const std::uint8_t> bytes) {
  data::DecodeLimits limits;
  limits.max_pixels = 1 << 20;
  try {
    const data::Image image = data::decode_image(bytes, "image", limits);
    const data::ImageHeader header = data::read_image_header(bytes, "image", limits);
    require(header.decoding_bytes >= image.size(), "what is decoded was foretold");
    require(header.width + header.height == image.width + image.height, "so are the sides");
    require(header.channels == image.channels, "so are the channels");
    require(image.width > 0 && image.height > 0, "an image has pixels");
    require(image.channels == 1 || image.channels == 3, "grey or RGB");
    require(image.pixels.size() == image.size(), "an image is whole");
    require(image.size() <= limits.max_pixels * static_cast<unsigned>(image.channels),
            "an image is within the limits");
    return true;
  } catch (const Error& e) {
    require(e.code() == ErrorCode::kBadData, e.what());
    return false;
  }
}

}  // namespace moil::test
