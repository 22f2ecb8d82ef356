// What is transparent is seen on white, in every format: what lies under it means nothing.
#include <cmath>
#include <map>

#include "base/random.h"
#include "datasets/images/codec.h"
#include "tests/datasets/png.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"
#include "tests/datasets/webp.h"

namespace moil::data {
namespace {

using test::encode_webp;
using test::pattern;
using test::png_of;
using Bytes = std::vector<std::uint8_t>;

std::uint8_t seen(int value, int alpha) {
  return static_cast<std::uint8_t>(std::lround((value * alpha + 255.0 * (255 - alpha)) / 255.0));
}

// Every alpha, each with another colour.
Image veiled() {
  Image image = pattern(16, 16, 4);
  for (std::size_t p = 0; p < 256; ++p) image.pixels[4 * p + 3] = static_cast<std::uint8_t>(p);
  return image;
}

Image on_white_paper(const Image& rgba) {
  Image image;
  image.resize(rgba.width, rgba.height, 3);
  for (std::size_t p = 0; p < image.pixels.size() / 3; ++p) {
    for (std::size_t c = 0; c < 3; ++c)
      image.pixels[3 * p + c] = seen(rgba.pixels[4 * p + c], rgba.pixels[4 * p + 3]);
  }
  return image;
}

TEST(Alpha, APngIsSeenOnWhite) {
  EXPECT_EQ(decode_image(encode_png(veiled()), "x.png"), on_white_paper(veiled()));
  const Image image = veiled();
  EXPECT_EQ(decode_image(png_of({16, 16, 8, PNG_COLOR_TYPE_RGBA, image.pixels, {}, {}, true}),
                         "interlaced.png"),
            on_white_paper(image));
}

TEST(Alpha, SixteenBitsAreSeenOnWhite) {
  const Image image = veiled();
  Bytes deep;
  for (const std::uint8_t value : image.pixels) deep.insert(deep.end(), {value, value});
  EXPECT_EQ(decode_image(png_of({16, 16, 16, PNG_COLOR_TYPE_RGBA, deep, {}, {}}), "deep.png"),
            on_white_paper(image));
}

TEST(Alpha, GreyIsSeenOnWhite) {
  const Bytes rows{0, 0, 0, 255, 100, 128, 200, 255};
  const Image expected{4, 1, 1, {255, 0, seen(100, 128), 200}};
  EXPECT_EQ(decode_image(png_of({4, 1, 8, PNG_COLOR_TYPE_GRAY_ALPHA, rows, {}, {}}), "x.png"),
            expected);
  const Image keyed{4, 1, 1, {10, 255, 30, 255}};  // 20 stands for nothing
  EXPECT_EQ(
      decode_image(png_of({4, 1, 8, PNG_COLOR_TYPE_GRAY, {10, 20, 30, 20}, {}, {20}}), "x.png"),
      keyed);
}

TEST(Alpha, APaletteIsSeenOnWhite) {
  const Bytes palette{9, 8, 7, 60, 50, 40, 1, 2, 3};
  const Image expected{3, 1, 3, {255, 255, 255, seen(60, 99), seen(50, 99), seen(40, 99), 1, 2, 3}};
  EXPECT_EQ(
      decode_image(png_of({3, 1, 8, PNG_COLOR_TYPE_PALETTE, {0, 1, 2}, palette, {0, 99}}), "x.png"),
      expected);
}

TEST(Alpha, AWebpIsSeenOnWhite) {
  EXPECT_EQ(decode_image(encode_webp(veiled()), "x.webp"), on_white_paper(veiled()));
}

TEST(Alpha, WhatLiesUnderTransparencyMeansNothing) {
  Image black = pattern(24, 24, 4), noise = black;
  Random random(5);
  for (std::size_t p = 0; p < 24 * 24; ++p) {
    if (p % 3 != 0) continue;
    for (std::size_t c = 0; c < 4; ++c) black.pixels[4 * p + c] = 0;
    for (std::size_t c = 0; c < 3; ++c)
      noise.pixels[4 * p + c] = static_cast<std::uint8_t>(random.below(256));
    noise.pixels[4 * p + 3] = 0;
  }
  EXPECT_EQ(decode_image(encode_png(noise), "noise.png"),
            decode_image(encode_png(black), "black.png"));
}

}  // namespace
}  // namespace moil::data
