#include "datasets/images/orientation.h"

#include <gtest/gtest.h>

#include <string>

#include "datasets/identity/random.h"
#include "datasets/images/codec.h"
#include "tests/datasets/synthetic.h"

namespace moil::data {
namespace {

using testing::gradient;
using testing::pattern;

// What a camera writes: a segment with one directory of one entry, behind the JPEG's first marker.
std::vector<std::uint8_t> with_orientation(std::vector<std::uint8_t> jpeg, int orientation,
                                           bool big_endian) {
  const auto two = [&](unsigned v) {
    const char high = static_cast<char>(v >> 8), low = static_cast<char>(v & 255);
    return big_endian ? std::string{high, low} : std::string{low, high};
  };
  const auto four = [&](unsigned v) {
    return big_endian ? two(v >> 16) + two(v & 65535) : two(v & 65535) + two(v >> 16);
  };
  const std::string tiff = (big_endian ? "MM" : "II") + two(42) + four(8) + two(1) + two(0x0112) +
                           two(3) + four(1) + two(static_cast<unsigned>(orientation)) + two(0) +
                           four(0);
  const std::string content = std::string("Exif\0\0", 6) + tiff;
  const std::size_t size = content.size() + 2;
  std::string segment = "\xff\xe1";
  segment += static_cast<char>(size >> 8);
  segment += static_cast<char>(size & 255);
  segment += content;
  jpeg.insert(jpeg.begin() + 2, segment.begin(), segment.end());
  return jpeg;
}

// 3 wide, 2 high: 1 2 3 / 4 5 6.
Image numbered() { return {3, 2, 1, {1, 2, 3, 4, 5, 6}}; }

Image turned(int orientation, Image image) {
  apply_orientation(orientation, image);
  return image;
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
  for (const int channels : {1, 3, 4})
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
