#include "datasets/images/orientation.h"

#include <string>

#include "base/random.h"
#include "datasets/images/canvas.h"
#include "datasets/images/codec.h"
#include "tests/datasets/exif.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"
#include "tests/datasets/webp.h"

namespace moil::data {
namespace {

using test::gradient;
using test::pattern;

// 3 wide, 2 high: 1 2 3 / 4 5 6.
Image numbered() { return {3, 2, 1, {1, 2, 3, 4, 5, 6}}; }

Image turned(int orientation, const Image& image) {
  Image result;
  Canvas canvas(result, image.width, image.height, image.channels, orientation);
  for (int y = 0; y < image.height; ++y)
    canvas.put(y, &image.pixels[static_cast<std::size_t>(y) * image.row_bytes()]);
  return result;
}

std::vector<std::uint8_t> with_orientation(const std::vector<std::uint8_t>& jpeg, int orientation,
                                           bool big_endian) {
  return test::jpeg_with_exif(jpeg, test::exif_of(orientation, big_endian));
}

TEST(Orientation, EachStandsUpright) {
  EXPECT_EQ(turned(1, numbered()), numbered());
  EXPECT_EQ(turned(2, numbered()), (Image{3, 2, 1, {3, 2, 1, 6, 5, 4}}));
  EXPECT_EQ(turned(3, numbered()), (Image{3, 2, 1, {6, 5, 4, 3, 2, 1}}));
  EXPECT_EQ(turned(4, numbered()), (Image{3, 2, 1, {4, 5, 6, 1, 2, 3}}));
  EXPECT_EQ(turned(5, numbered()), (Image{2, 3, 1, {1, 4, 2, 5, 3, 6}}));
  EXPECT_EQ(turned(6, numbered()), (Image{2, 3, 1, {4, 1, 5, 2, 6, 3}}));
  EXPECT_EQ(turned(7, numbered()), (Image{2, 3, 1, {6, 3, 5, 2, 4, 1}}));
  EXPECT_EQ(turned(8, numbered()), (Image{2, 3, 1, {3, 6, 2, 5, 1, 4}}));
  EXPECT_EQ(turned(9, numbered()), numbered());
}

TEST(Orientation, TurningBackGivesTheSame) {
  const int inverse[] = {0, 1, 2, 3, 4, 5, 8, 7, 6};
  for (const int channels : {1, 3})
    for (int o = 1; o <= 8; ++o)
      EXPECT_EQ(turned(inverse[o], turned(o, pattern(7, 5, channels))), pattern(7, 5, channels));
}

TEST(Orientation, AJpegIsDecodedUpright) {
  const auto plain = encode_jpeg(gradient(40, 24, 3), 90);
  EXPECT_EQ(exif_orientation(plain), 1);
  for (const bool big_endian : {false, true}) {
    for (int o = 1; o <= 8; ++o) {
      const auto camera = with_orientation(plain, o, big_endian);
      EXPECT_EQ(exif_orientation(camera), o);
      EXPECT_EQ(decode_image(camera, "x.jpg"), turned(o, decode_image(plain, "x.jpg")));
    }
  }
}

TEST(Orientation, APngIsDecodedUprightWhereverItSaysSo) {
  for (const int channels : {1, 3, 4}) {
    const auto plain = encode_png(pattern(13, 9, channels));
    for (int o = 1; o <= 8; ++o) {
      for (const bool behind : {false, true}) {
        const auto camera = test::png_with_exif(plain, test::exif_of(o, behind), behind);
        EXPECT_EQ(decode_image(camera, "x.png"), turned(o, decode_image(plain, "x.png"))) << o;
      }
    }
  }
}

TEST(Orientation, AWebpIsDecodedUpright) {
  for (const int channels : {3, 4}) {
    for (const bool lossless : {true, false}) {
      const auto plain = test::encode_webp(pattern(13, 9, channels), lossless);
      if (plain[15] == 'X') continue;  // extended already, as a lossy one with alpha is
      for (int o = 1; o <= 8; ++o) {
        const auto camera =
            test::webp_with_exif(plain, 13, 9, channels == 4, test::exif_of(o, true));
        EXPECT_EQ(decode_image(camera, "x.webp"), turned(o, decode_image(plain, "x.webp"))) << o;
      }
    }
  }
}

TEST(Orientation, NonsenseIsUpright) {
  const auto plain = encode_jpeg(gradient(16, 8, 3), 90);
  for (const int o : {0, 9, 65535})
    EXPECT_EQ(exif_orientation(with_orientation(plain, o, true)), 1);
  EXPECT_EQ(exif_orientation({}), 1);
  Random random(3);
  const auto camera = with_orientation(plain, 6, true);
  for (int trial = 0; trial < 2000; ++trial) {
    auto damaged = camera;
    for (int hit = 0; hit < 3; ++hit)
      damaged[random.below(44)] = static_cast<std::uint8_t>(random.below(256));
    const int o = exif_orientation(damaged);
    EXPECT_TRUE(o >= 1 && o <= 8);
    damaged.resize(random.below(damaged.size()));
    (void)exif_orientation(damaged);
  }
}

}  // namespace
}  // namespace moil::data
