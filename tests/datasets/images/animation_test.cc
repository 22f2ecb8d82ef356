// Of an animation the first frame is the photo.
#include "tests/datasets/animation.h"

#include "datasets/images/codec.h"
#include "tests/datasets/exif.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"
#include "tests/datasets/webp.h"

namespace moil::data {
namespace {

using test::animated_webp;
using test::encode_webp;
using test::gradient;
using test::pattern;

std::vector<std::uint8_t> two_frames() {
  return animated_webp(20, 12,
                       {{encode_webp(pattern(20, 12, 3)), 0, 0, 20, 12},
                        {encode_webp(gradient(20, 12, 3)), 0, 0, 20, 12}});
}

TEST(Animation, OfWebpIsItsFirstFrame) {
  EXPECT_EQ(decode_image(two_frames(), "x.webp"), pattern(20, 12, 3));
  const ImageHeader header = read_image_header(two_frames(), "x.webp");
  EXPECT_EQ(header.width, 20);
  EXPECT_EQ(header.height, 12);
  EXPECT_EQ(header.channels, 3);
}

TEST(Animation, OfWebpWhoseFirstFrameIsSmallerIsWhiteAround) {
  const Image small = pattern(6, 4, 3);
  const auto webp = animated_webp(
      12, 10, {{encode_webp(small), 4, 2, 6, 4}, {encode_webp(gradient(12, 10, 3)), 0, 0, 12, 10}});
  const Image expected = test::drawn(12, 10, 3, [&](int x, int y, int c) {
    const bool inside = x >= 4 && x < 10 && y >= 2 && y < 6;
    return inside ? small.pixels[static_cast<std::size_t>(((y - 2) * 6 + x - 4) * 3 + c)] : 255;
  });
  EXPECT_EQ(decode_image(webp, "x.webp"), expected);
}

TEST(Animation, OfWebpThatIsCutOffOrReachesBeyondItsCanvasIsRefused) {
  const auto webp = two_frames();
  for (std::size_t size = 12; size + 8 < webp.size(); size += 7)
    test::expect_error(ErrorCode::kBadData, {"x.webp"},
                       [&] { (void)decode_image(std::span(webp).first(size), "x.webp"); });
  const auto beyond = animated_webp(12, 10, {{encode_webp(pattern(6, 4, 3)), 8, 2, 6, 4}});
  test::expect_error(ErrorCode::kBadData, {"x.webp", "damaged"},
                     [&] { (void)decode_image(beyond, "x.webp"); });
  test::expect_error(ErrorCode::kBadData, {"x.webp", "damaged"},
                     [&] { (void)decode_image(animated_webp(12, 10, {}), "x.webp"); });
  test::expect_error(ErrorCode::kBadData, {"20x12"},
                     [&] { (void)decode_image(webp, "x.webp", {.max_pixels = 100}); });
}

TEST(Animation, OfPngIsItsFirstFrame) {
  const auto png =
      test::animated_png(encode_png(pattern(20, 12, 3)), encode_png(gradient(20, 12, 3)));
  EXPECT_EQ(decode_image(png, "x.png"), pattern(20, 12, 3));
  EXPECT_EQ(read_image_header(png, "x.png").width, 20);
}

}  // namespace
}  // namespace moil::data
