#include "daemon/worker/preview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "daemon/json/base64.h"
#include "datasets/images/codec.h"

namespace moil::worker {
namespace {

data::Image picture(int width, int height, int channels) {
  data::Image image;
  image.resize(width, height, channels);
  for (std::size_t i = 0; i < image.size(); ++i)
    image.pixels[i] = static_cast<std::uint8_t>(i * 255 / image.size());
  return image;
}

Json preview_of(const std::vector<std::uint8_t>& bytes, int size) {
  return previews({[&] { return bytes; }}, size).at(0);
}

TEST(Preview, IsASmallJpegOfTheSameShape) {
  for (const auto& bytes :
       {data::encode_jpeg(picture(800, 400, 3), 90), data::encode_png(picture(800, 400, 3))}) {
    const Json found = preview_of(bytes, 100);
    EXPECT_EQ(found["width"], 100);
    EXPECT_EQ(found["height"], 50);
    const auto jpeg = daemon::decode_base64(found["jpeg"].get<std::string>());
    ASSERT_TRUE(jpeg);
    const data::Image image = data::decode_image(*jpeg, "preview");
    EXPECT_EQ(image.width, 100);
    EXPECT_EQ(image.height, 50);
    // Dark above, light below, as the picture is.
    EXPECT_LT(image.pixels[0], 20);
    EXPECT_GT(image.pixels.back(), 235);
  }
}

TEST(Preview, SmallImagesStayAndThinOnesKeepAPixel) {
  const Json small = preview_of(data::encode_png(picture(28, 28, 1)), 128);
  EXPECT_EQ(small["width"], 28);
  EXPECT_EQ(small["height"], 28);
  const Json thin = preview_of(data::encode_png(picture(2000, 2, 1)), 64);
  EXPECT_EQ(thin["width"], 64);
  EXPECT_EQ(thin["height"], 1);
}

// 16 bits, one channel, 8000 a second: silence, then as loud as can be.
std::vector<std::uint8_t> half_silent_wav() {
  const std::string head(
      "RIFF\xa4\x3e\0\0WAVEfmt "
      "\x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\x80\x3e\0\0",
      44);
  std::vector<std::uint8_t> bytes(head.begin(), head.end());
  for (int i = 0; i < 8000; ++i) {
    const int sample = i < 4000 ? 0 : i % 2 == 0 ? 32767 : -32767;
    bytes.push_back(static_cast<std::uint8_t>(sample & 0xff));
    bytes.push_back(static_cast<std::uint8_t>((sample >> 8) & 0xff));
  }
  return bytes;
}

TEST(Preview, OfASoundIsItsOutline) {
  const Json found = preview_of(half_silent_wav(), 128);
  EXPECT_EQ(found["width"], 128);
  EXPECT_EQ(found["height"], 64);
  EXPECT_DOUBLE_EQ(found["seconds"], 1);
  const auto jpeg = daemon::decode_base64(found["jpeg"].get<std::string>());
  ASSERT_TRUE(jpeg);
  const data::Image image = data::decode_image(*jpeg, "preview");
  const auto blue = [&](int x, int y) {
    return image.pixels[static_cast<std::size_t>(3 * (y * image.width + x) + 2)];
  };
  EXPECT_LT(blue(20, 4), 80) << "silence";
  EXPECT_GT(blue(20, 32), 150) << "its middle line";
  EXPECT_GT(blue(100, 4), 200) << "loud";
  EXPECT_EQ(preview_of({'R', 'I', 'F', 'F', 0, 0, 0, 0, 'W', 'A', 'V', 'E'}, 64)["error"]["code"],
            "bad_data");
}

TEST(Preview, WhatCannotBeReadIsToldInItsPlace) {
  const auto good = data::encode_png(picture(8, 8, 1));
  const std::vector<std::uint8_t> bad = {0xff, 0xd8, 0xff, 0, 1, 2};
  const Json found = previews(
      {[&] { return bad; },
       [&]() -> std::vector<std::uint8_t> { throw Error(ErrorCode::kIo, "the disk is gone"); },
       [&] { return good; }},
      64);
  EXPECT_EQ(found[0]["error"]["code"], "bad_data");
  EXPECT_EQ(found[1]["error"]["message"], "the disk is gone");
  EXPECT_EQ(found[2]["width"], 8);
}

}  // namespace
}  // namespace moil::worker
