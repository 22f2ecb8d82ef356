#include "tests/fuzz/image_seeds.h"

#include "datasets/images/codec.h"
#include "tests/datasets/animation.h"
#include "tests/datasets/exif.h"
#include "tests/datasets/webp.h"

namespace moil::test {
namespace {

using data::test::encode_webp;

data::Image pattern(int width, int height, int channels) {
  data::Image image;
  image.resize(width, height, channels);
  for (std::size_t i = 0; i < image.pixels.size(); ++i)
    image.pixels[i] = static_cast<std::uint8_t>(i * 37 + i / 11);
  return image;
}

std::string text(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace

std::map<std::string, std::string> image_seeds() {
  const auto jpeg = data::encode_jpeg(pattern(24, 16, 3), 60);
  const auto png = data::encode_png(pattern(8, 8, 3));
  const auto webp = encode_webp(pattern(8, 8, 4));
  const std::string exif = data::test::exif_of(6, false);  // turned by 90 degrees
  return {{"grey.png", text(data::encode_png(pattern(9, 7, 1)))},
          {"colour.png", text(png)},
          {"alpha.png", text(data::encode_png(pattern(5, 6, 4)))},
          {"turned.png", text(data::test::png_with_exif(png, exif, false))},
          {"grey.jpg", text(data::encode_jpeg(pattern(16, 16, 1), 60))},
          {"colour.jpg", text(jpeg)},
          {"turned.jpg", text(data::test::jpeg_with_exif(jpeg, exif))},
          {"lossless.webp", text(webp)},
          {"turned.webp", text(data::test::webp_with_exif(webp, 8, 8, true, exif))},
          {"lossy.webp", text(encode_webp(pattern(16, 16, 4), false))},
          {"animated.webp",
           text(data::test::animated_webp(12, 10, {{encode_webp(pattern(8, 8, 3)), 2, 2, 8, 8}}))},
          {"animated.png", text(data::test::animated_png(png, png))}};
}

}  // namespace moil::test
