#include "datasets/images/codec.h"

#include <array>
#include <cmath>

#include "base/random.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"
#include "tests/datasets/webp.h"

namespace moil::data {
namespace {

using test::encode_webp;
using test::expect_error;
using test::gradient;
using test::pattern;

double mean_difference(const Image& a, const Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) sum += std::abs(a.pixels[i] - b.pixels[i]);
  return sum / static_cast<double>(a.pixels.size());
}

std::vector<std::uint8_t> cut(std::vector<std::uint8_t> bytes, std::size_t size) {
  bytes.resize(size);
  return bytes;
}

TEST(Codec, PngIsLossless) {
  for (const int channels : {1, 3}) {
    const Image image = pattern(37, 23, channels);
    EXPECT_EQ(decode_image(encode_png(image), "x.png"), image) << channels;
    EXPECT_EQ(encode_png(image), encode_png(image));
  }
}

TEST(Codec, JpegComesClose) {
  for (const int channels : {1, 3}) {
    const Image image = gradient(61, 40, channels);
    const Image decoded = decode_image(encode_jpeg(image, 95), "x.jpg");
    ASSERT_EQ(decoded.channels, channels);
    ASSERT_EQ(decoded.size(), image.size());
    EXPECT_LT(mean_difference(decoded, image), 2.0);
  }
}

TEST(Codec, MemoryIsReused) {
  Image image = pattern(64, 64, 3);
  const auto* memory = image.pixels.data();
  decode_image(encode_png(pattern(10, 20, 1)), "x.png", image);
  EXPECT_EQ(image, pattern(10, 20, 1));
  EXPECT_EQ(image.pixels.data(), memory);
}

TEST(Codec, EveryTruncationIsFound) {
  const auto png = encode_png(pattern(20, 20, 3));
  const auto jpeg = encode_jpeg(gradient(64, 64, 3), 90);
  for (std::size_t size = 0; size + 12 < png.size(); size += 7) {  // the last 12 bytes are IEND
    expect_error(ErrorCode::kBadData, {"x.png"},
                 [&] { (void)decode_image(cut(png, size), "x.png"); });
  }
  for (std::size_t size = 0; size + 2 < jpeg.size(); size += 7) {
    expect_error(ErrorCode::kBadData, {"x.jpg"},
                 [&] { (void)decode_image(cut(jpeg, size), "x.jpg"); });
  }
}

TEST(Codec, ADamagedImageDoesNotHarmTheNext) {
  const auto jpeg = encode_jpeg(gradient(64, 64, 3), 90);
  for (std::size_t size = 4; size < 600; ++size) {
    EXPECT_THROW((void)decode_image(cut(jpeg, size), "x.jpg"), Error);
    EXPECT_EQ(decode_image(jpeg, "x.jpg").width, 64);
  }
}

TEST(Codec, OtherFormatsAreNamed) {
  expect_error(ErrorCode::kBadData, {"a.gif", "neither JPEG, PNG nor WebP"},
               [] { (void)decode_image(test::bytes_of("GIF89a..."), "a.gif"); });
  expect_error(ErrorCode::kBadData, {"a.jpg", "empty"}, [] { (void)decode_image({}, "a.jpg"); });
}

// Bombs: large_images_test.cc.
TEST(Codec, MorePixelsThanAreAllowedAreRefused) {
  DecodeLimits small;
  small.max_pixels = 63;
  expect_error(ErrorCode::kBadData, {"8x8"},
               [&] { (void)decode_image(encode_png(pattern(8, 8, 3)), "x.png", small); });
}

TEST(Codec, AJpegOfTooManyPixelsIsDecodedSmaller) {
  auto jpeg = encode_jpeg(gradient(100, 60, 3), 90);
  DecodeLimits limits;
  for (const auto& [most, width, height] : {std::array{6000, 100, 60}, std::array{5999, 50, 30},
                                            std::array{1499, 25, 15}, std::array{374, 13, 8}}) {
    limits.max_pixels = static_cast<std::uint64_t>(most);
    const Image image = decode_image(jpeg, "x.jpg", limits);
    EXPECT_EQ(image.width, width);
    EXPECT_EQ(image.height, height);
    EXPECT_EQ(image.pixels.size(), image.size());
  }
  const auto refused = [&] { (void)decode_image(jpeg, "x.jpg", limits); };
  limits.max_pixels = 100;
  expect_error(ErrorCode::kBadData, {"100x60", "100 pixels"}, refused);
  // The first frame's marker becomes that of a progressive one.
  for (std::size_t i = 0; i + 1 < jpeg.size(); ++i) {
    if (jpeg[i] != 0xff || jpeg[i + 1] != 0xc0) continue;
    jpeg[i + 1] = 0xc2;
    break;
  }
  limits.max_pixels = 5999;
  expect_error(ErrorCode::kBadData, {"100x60"}, refused);
}

TEST(Codec, WebpIsDecoded) {
  const Image colours = pattern(37, 23, 3);
  EXPECT_EQ(decode_image(encode_webp(colours), "x.webp"), colours);
}

TEST(Codec, ADamagedWebpIsFound) {
  const auto webp = encode_webp(pattern(20, 20, 3));
  for (std::size_t size = 12; size + 8 < webp.size(); size += 5) {
    expect_error(ErrorCode::kBadData, {"x.webp"},
                 [&] { (void)decode_image(cut(webp, size), "x.webp"); });
  }
  DecodeLimits small;
  small.max_pixels = 399;
  expect_error(ErrorCode::kBadData, {"20x20"}, [&] { (void)decode_image(webp, "x.webp", small); });
}

// Whatever the bytes, the outcome is an image or kBadData; the sanitizers watch.
TEST(Codec, DamagedBytesAreSurvived) {
  Random random(11);
  for (const auto& good : {encode_png(pattern(24, 24, 3)), encode_jpeg(gradient(48, 48, 3), 80),
                           encode_webp(pattern(24, 24, 3))}) {
    for (int trial = 0; trial < 400; ++trial) {
      auto bytes = good;
      for (int hit = 0; hit < 4; ++hit) {
        bytes[random.below(bytes.size())] = static_cast<std::uint8_t>(random.below(256));
      }
      try {
        const Image image = decode_image(bytes, "damaged");
        EXPECT_EQ(image.pixels.size(), image.size());
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kBadData) << error.what();
      }
    }
  }
}

TEST(Codec, BadImagesAreNotEncoded) {
  expect_error(ErrorCode::kInvalidArgument, {"2"}, [] { (void)encode_png(pattern(2, 2, 2)); });
  expect_error(ErrorCode::kInvalidArgument, {"4"}, [] { (void)encode_jpeg(pattern(2, 2, 4), 90); });
  Image torn = pattern(4, 4, 1);
  torn.pixels.pop_back();
  expect_error(ErrorCode::kInvalidArgument, {"size"}, [&] { (void)encode_png(torn); });
}

}  // namespace
}  // namespace moil::data
