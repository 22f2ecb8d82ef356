// Images that claim to be large, and one that is: refused, or decoded smaller, in little memory.
#include <gtest/gtest.h>
#include <webp/encode.h>
#include <zlib.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "base/process_memory.h"
#include "datasets/images/codec.h"
#include "tests/datasets/images/memory_growth.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"

namespace moil::data {
namespace {

using test::expect_error;
using test::pattern;
using Bytes = std::vector<std::uint8_t>;

void expect_refused(const Bytes& bomb, const std::string& name, const std::string& size) {
  EXPECT_LE(bomb.size(), 700U) << name;
  const std::size_t grown = growth([&] {
    expect_error(ErrorCode::kBadData, {name, size, "at most 64000000 pixels"},
                 [&] { (void)decode_image(bomb, name); });
  });
  EXPECT_LT(grown, 8 * kMiB) << name;
}

void put_big_endian(Bytes& bytes, std::size_t at, std::uint32_t value, int count) {
  for (int i = 0; i < count; ++i)
    bytes[at + static_cast<std::size_t>(i)] =
        static_cast<std::uint8_t>(value >> (8 * (count - 1 - i)));
}

Bytes png_bomb(std::uint32_t side) {
  Bytes png = encode_png(pattern(8, 8, 1));
  put_big_endian(png, 16, side, 4);
  put_big_endian(png, 20, side, 4);
  put_big_endian(png, 29, static_cast<std::uint32_t>(crc32(0, &png[12], 17)), 4);
  return png;
}

// The first frame's height and width, behind its marker, length and precision.
Bytes jpeg_bomb(std::uint32_t side) {
  Bytes jpeg = encode_jpeg(pattern(8, 8, 1), 50);
  const std::uint8_t frame[] = {0xff, 0xc0};
  const auto at = static_cast<std::size_t>(
      std::search(jpeg.begin(), jpeg.end(), std::begin(frame), std::end(frame)) - jpeg.begin());
  put_big_endian(jpeg, at + 5, side, 2);
  put_big_endian(jpeg, at + 7, side, 2);
  return jpeg;
}

// Fourteen bits each of width and height less one, behind the chunk's header and a first byte.
Bytes webp_bomb(std::uint32_t side) {
  std::uint8_t* raw = nullptr;
  const Image image = pattern(8, 8, 3);
  const std::size_t size = WebPEncodeLosslessRGB(image.pixels.data(), 8, 8, 24, &raw);
  const std::unique_ptr<std::uint8_t, decltype(&WebPFree)> owner(raw, WebPFree);
  Bytes webp(raw, raw + size);
  const std::uint32_t bits = (side - 1) | (side - 1) << 14;
  for (std::size_t i = 0; i < 4; ++i) webp.at(21 + i) = static_cast<std::uint8_t>(bits >> (8 * i));
  return webp;
}

TEST(LargeImages, BombsTakeNoMemory) {
  expect_refused(png_bomb(65500), "bomb.png", "65500x65500");
  expect_refused(jpeg_bomb(65500), "bomb.jpg",
                 "65500x65500");  // too large at an eighth of its sides, too
  expect_refused(webp_bomb(16383), "bomb.webp", "16383x16383");
}

TEST(LargeImages, AHundredMegapixelsAreDecodedSmaller) {
  constexpr int kSide = 10'000;
  Bytes jpeg;
  {
    Image grey;
    grey.resize(kSide, kSide, 1);
    for (std::size_t y = 0; y < kSide; ++y)
      std::fill_n(&grey.pixels[y * kSide], kSide, static_cast<std::uint8_t>(y * 255 / kSide));
    jpeg = encode_jpeg(grey, 50);
  }
  Image image;
  const std::size_t grown = growth([&] { decode_image(jpeg, "large.jpg", image); });
  EXPECT_LT(grown, 48 * kMiB) << "a quarter of the pixels, and rows";
  ASSERT_EQ(image.width, kSide / 2);
  ASSERT_EQ(image.height, kSide / 2);
  EXPECT_NEAR(image.pixels[image.size() / 2], 127, 3);
  EXPECT_NEAR(image.pixels.back(), 254, 3);
}

}  // namespace
}  // namespace moil::data
