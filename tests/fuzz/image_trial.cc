#include "tests/fuzz/image_trial.h"

#include "base/error.h"
#include "datasets/images/codec.h"
#include "tests/fuzz/require.h"

namespace moil::test {

void try_image(std::span<const std::uint8_t> bytes) {
  data::DecodeLimits limits;
  limits.max_pixels = 1 << 20;
  try {
    const data::Image image = data::decode_image(bytes, "image", limits);
    require(image.width > 0 && image.height > 0, "an image has pixels");
    require(image.channels == 1 || image.channels == 3 || image.channels == 4, "grey, RGB or RGBA");
    require(image.pixels.size() == image.size(), "an image is whole");
    require(image.size() <= limits.max_pixels * static_cast<unsigned>(image.channels),
            "an image is within the limits");
  } catch (const Error& e) {
    require(e.code() == ErrorCode::kBadData, e.what());
  }
}

}  // namespace moil::test
