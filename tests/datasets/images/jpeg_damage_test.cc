// JPEGs that the decoder would go on with although pixels are lost, and those that only look odd.
#include <algorithm>
#include <string>

#include "base/random.h"
#include "datasets/images/codec.h"
#include "datasets/images/jpeg_scan.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"

namespace moil::data {
namespace {

using test::expect_error;
using test::gradient;
using Bytes = std::vector<std::uint8_t>;

// Detail everywhere, so that coded pixels are many.
Bytes noisy_jpeg() {
  Image image = gradient(160, 120, 3);
  Random random(7);
  for (auto& pixel : image.pixels) pixel = static_cast<std::uint8_t>(pixel / 2 + random.below(128));
  return encode_jpeg(image, 85);
}

std::size_t find_marker(const Bytes& jpeg, std::uint8_t marker) {
  const std::uint8_t bytes[] = {0xff, marker};
  return static_cast<std::size_t>(
      std::search(jpeg.begin(), jpeg.end(), std::begin(bytes), std::end(bytes)) - jpeg.begin());
}

std::size_t first_pixel(const Bytes& jpeg) {
  const std::size_t scan = find_marker(jpeg, 0xda);
  return scan + 2 + jpeg[scan + 2] * 256U + jpeg[scan + 3];
}

Bytes inserted(Bytes jpeg, std::size_t at, const Bytes& bytes) {
  jpeg.insert(jpeg.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin(), bytes.end());
  return jpeg;
}

void expect_damaged(const Bytes& jpeg, const std::string& name) {
  expect_error(ErrorCode::kBadData, {name}, [&] { (void)decode_image(jpeg, name); });
}

TEST(JpegDamage, HalfOfAJpegWithAnEndMarkerIsRefused) {
  const Bytes whole = noisy_jpeg();
  for (std::size_t size = first_pixel(whole) + 20; size + 40 < whole.size(); size += 997) {
    Bytes half(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    half.insert(half.end(), {0xff, 0xd9});
    expect_damaged(half, "half.jpg");
  }
}

TEST(JpegDamage, ALaterWarningCountsThoughAnEarlierOneIsHarmless) {
  const Bytes whole = noisy_jpeg();
  Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(whole.size() / 2));
  cut.insert(cut.end(), {0xff, 0xd9});
  // Stray bytes between two segments are warned of first.
  expect_damaged(inserted(cut, find_marker(cut, 0xdb), {1, 2, 3}), "cut.jpg");
}

TEST(JpegDamage, AZeroedMiddleIsRefused) {
  const Bytes whole = noisy_jpeg();
  const std::size_t begin = first_pixel(whole), pixels = whole.size() - begin;
  for (const std::size_t zeros : {std::size_t{64}, std::size_t{512}, pixels / 3}) {
    for (std::size_t at = begin; at + zeros + 2 < whole.size(); at += 1999) {
      Bytes jpeg = whole;
      std::fill_n(jpeg.begin() + static_cast<std::ptrdiff_t>(at), zeros, std::uint8_t{0});
      EXPECT_TRUE(has_zeroed_scan(jpeg));
      expect_damaged(jpeg, "zeroed.jpg");
    }
  }
}

TEST(JpegDamage, MarkersAmongThePixelsAreRefused) {
  const Bytes whole = noisy_jpeg();
  const std::size_t middle = (first_pixel(whole) + whole.size()) / 2;
  for (const std::uint8_t marker : {0xd0, 0xd3, 0xd9, 0xe1, 0xc4})
    expect_damaged(inserted(whole, middle, {0xff, marker}), "stray.jpg");
}

TEST(JpegDamage, PixelsThatAreLeftAreRefused) {
  const Bytes whole = noisy_jpeg();
  Bytes more(200);
  Random random(3);
  for (auto& byte : more) byte = static_cast<std::uint8_t>(1 + random.below(200));
  expect_damaged(inserted(whole, whole.size() - 2, more), "more.jpg");
}

TEST(JpegDamage, WhatCostsNoPixelIsLetPass) {
  const Bytes whole = noisy_jpeg();
  const Image image = decode_image(whole, "whole.jpg");
  const std::size_t tables = find_marker(whole, 0xdb);
  EXPECT_EQ(decode_image(inserted(whole, tables, {1, 2, 3, 4}), "between segments"), image);
  EXPECT_EQ(decode_image(inserted(whole, whole.size() - 2, {7, 8, 9}), "some at the end"), image);
  EXPECT_EQ(decode_image(inserted(whole, whole.size() - 2, Bytes(300, 0x55)), "filled up"), image);
  EXPECT_EQ(decode_image(inserted(whole, whole.size(), Bytes(300, 9)), "behind the end"), image);
  Bytes version = whole;
  version[11] = 9;  // JFIF's major version, of which the decoder warns
  EXPECT_EQ(decode_image(version, "another version"), image);
}

// Zero bits mean "as before" in the tables that are made for a flat picture.
TEST(JpegDamage, AFlatPictureIsNotSuspected) {
  Image flat;
  flat.resize(640, 640, 1);
  std::fill(flat.pixels.begin(), flat.pixels.end(), std::uint8_t{200});
  EXPECT_FALSE(has_zeroed_scan(encode_jpeg(flat, 90)));
  EXPECT_EQ(decode_image(encode_jpeg(flat, 90), "flat.jpg").width, 640);
}

TEST(JpegDamage, WhatOnlyHasTheNameOfAPhotoIsRefused) {
  const std::string heic(
      "\0\0\0\x18"
      "ftypheic\0\0\0\0mif1heic",
      24);
  for (const std::string& content : {std::string("no picture\n"), heic, std::string()})
    expect_damaged(Bytes(content.begin(), content.end()), "photo.jpg");
}

}  // namespace
}  // namespace moil::data
