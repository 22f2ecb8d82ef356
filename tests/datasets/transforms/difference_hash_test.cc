#include "datasets/transforms/difference_hash.h"

#include "datasets/images/codec.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"

namespace moil::data {
namespace {

Likeness hash(const Image& image) { return DifferenceHash().of(image).value(); }

// Soft hills of a scene of its own, brightened by `light` and with noise of `noise` grey levels.
Image scene(unsigned number, int width, int height, int light = 0, int noise = 0) {
  Image image;
  image.resize(width, height, 3);
  unsigned state = number * 7919 + 1;
  const auto random = [&state] {
    state = state * 1664525 + 1013904223;
    return state >> 16;
  };
  int hills[6][6];
  for (auto& row : hills)
    for (int& hill : row) hill = static_cast<int>(random() % 200);
  std::size_t at = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const double u = 5.0 * x / width, v = 5.0 * y / height;
      const int i = static_cast<int>(u), j = static_cast<int>(v);
      const double a = u - i, b = v - j;
      const double value = (hills[j][i] * (1 - a) + hills[j][i + 1] * a) * (1 - b) +
                           (hills[j + 1][i] * (1 - a) + hills[j + 1][i + 1] * a) * b;
      const int grain = noise > 0 ? static_cast<int>(random() % static_cast<unsigned>(noise)) : 0;
      for (int c = 0; c < 3; ++c)
        image.pixels[at++] = static_cast<std::uint8_t>(static_cast<int>(value) + light + grain);
    }
  }
  return image;
}

TEST(DifferenceHash, TheNextFrameOfASceneIsAlike) {
  for (unsigned number = 0; number < 20; ++number) {
    const Likeness first = hash(scene(number, 96, 64));
    EXPECT_TRUE(look_alike(first, hash(scene(number, 96, 64, 20, 8)))) << number;
    EXPECT_TRUE(look_alike(first, hash(scene(number, 120, 80)))) << number;
    const auto jpeg = encode_jpeg(scene(number, 96, 64), 50);
    EXPECT_TRUE(look_alike(first, hash(decode_image(jpeg, "a scene")))) << number;
  }
}

TEST(DifferenceHash, AnotherSceneIsNot) {
  for (unsigned a = 0; a < 20; ++a) {
    for (unsigned b = 0; b < a; ++b)
      EXPECT_FALSE(look_alike(hash(scene(a, 96, 64)), hash(scene(b, 96, 64)))) << a << " " << b;
  }
}

// A cross of thin strokes on black around (x, y): nearly all bits of such drawings agree.
Image cross(int x, int y) {
  Image image;
  image.resize(90, 90, 1);
  for (int i = -30; i < 30; ++i) {
    for (int j = 0; j < 6; ++j) {
      image.pixels[static_cast<std::size_t>((y + i) * 90 + x + j)] = 255;
      image.pixels[static_cast<std::size_t>((y + j) * 90 + x + i)] = 255;
    }
  }
  return image;
}

TEST(DifferenceHash, DrawingsOnAnEmptyGroundAreToldApart) {
  EXPECT_TRUE(look_alike(hash(cross(40, 40)), hash(cross(41, 40))));
  EXPECT_FALSE(look_alike(hash(cross(40, 40)), hash(cross(50, 40))));
  EXPECT_FALSE(look_alike(hash(cross(40, 40)), hash(cross(40, 50))));
}

TEST(DifferenceHash, TellsNothingOfNextToNothing) {
  Image flat;
  flat.resize(64, 64, 3);
  EXPECT_FALSE(DifferenceHash().of(flat));
  std::fill_n(flat.pixels.begin() + 64 * 3 * 20, 300, std::uint8_t{200});  // one short stroke
  EXPECT_FALSE(DifferenceHash().of(flat));
  EXPECT_FALSE(DifferenceHash().of(scene(1, 15, 64)));
  EXPECT_FALSE(DifferenceHash().of(scene(1, 64, 15)));
  EXPECT_TRUE(DifferenceHash().of(scene(1, 16, 16)));
}

TEST(DifferenceHash, TakesImagesOfEveryKind) {
  Image grey = test::pattern(40, 30, 1);
  Image colour = test::pattern(40, 30, 4);
  for (int i = 0; i < 40 * 30; ++i)
    for (int c = 0; c < 3; ++c) colour.pixels[i * 4 + c] = grey.pixels[i];
  EXPECT_EQ(hash(colour), hash(grey));  // whatever its alpha is
}

}  // namespace
}  // namespace moil::data
