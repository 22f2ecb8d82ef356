#include "datasets/transforms/transform.h"

#include "base/process_memory.h"
#include "datasets/identity/digest.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"
#include "tests/plain_build.h"

namespace moil::data {
namespace {

using test::expect_error;
using test::pattern;
using ::testing::ElementsAre;
using Resize = Preprocessing::Resize;

Preprocessing description(int channels, Resize resize, int height, int width) {
  Preprocessing d;
  d.channels = channels;
  d.resize = resize;
  d.height = height;
  d.width = width;
  d.mean.assign(static_cast<std::size_t>(channels), 0);
  d.stddev.assign(static_cast<std::size_t>(channels), 1);
  return d;
}

TEST(Transform, ShortSideAndCropAgreeWithPillowAndTorchvision) {
  auto d = description(3, Resize::kShortSide, 29, 31);
  d.short_side = 32;
  d.filter = Filter::kBicubic;
  Transform transform(d);
  EXPECT_EQ(digest_of(transform.geometry(pattern(97, 61, 3)).pixels).hex(),
            "22f8d4fee7b4c5882f497ec5948685c2");
}

TEST(Transform, GreyAgreesWithPillow) {
  Transform transform(description(1, Resize::kNone, 2, 4));
  EXPECT_THAT(transform.geometry(pattern(4, 2, 3)).pixels,
              ElementsAre(58, 61, 70, 85, 95, 103, 117, 137));
}

TEST(Transform, GreyBecomesRgb) {
  Transform transform(description(3, Resize::kNone, 1, 2));
  const Image grey{2, 1, 1, {7, 9}};
  EXPECT_THAT(transform.geometry(grey).pixels, ElementsAre(7, 7, 7, 9, 9, 9));
  EXPECT_THAT(transform.geometry(grey, View{true, 1, 0.5, 0.5}).pixels,
              ElementsAre(9, 9, 9, 7, 7, 7));
}

TEST(Transform, GreyIsResizedAsIfItHadBeenRgb) {
  auto d = description(3, Resize::kShortSide, 20, 24);
  d.short_side = 24;
  d.filter = Filter::kBicubic;
  const Image grey = pattern(61, 50, 1);
  Image rgb;
  rgb.resize(61, 50, 3);
  for (std::size_t p = 0; p < grey.size(); ++p) std::fill_n(&rgb.pixels[3 * p], 3, grey.pixels[p]);
  Transform transform(d);
  const Image once = transform.geometry(grey);
  EXPECT_EQ(once, transform.geometry(rgb));
}

TEST(Transform, NormalisesEachChannel) {
  auto d = description(3, Resize::kNone, 1, 1);
  d.scale = 1.0 / 255;
  d.mean = {0.5, 0.25, 0};
  d.stddev = {0.5, 0.25, 2};
  float out[3];
  Transform(d).apply(Image{1, 1, 3, {255, 51, 255}}, out);
  EXPECT_FLOAT_EQ(out[0], 1.0f);
  EXPECT_FLOAT_EQ(out[1], -0.2f);
  EXPECT_FLOAT_EQ(out[2], 0.5f);
}

TEST(Transform, WithoutResizeTheMiddleIsCropped) {
  Transform transform(description(1, Resize::kNone, 1, 2));
  EXPECT_THAT(transform.geometry(Image{4, 3, 1, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}).pixels,
              ElementsAre(5, 6));
  expect_error(ErrorCode::kBadData, {"1x1", "2x1"}, [&] {
    float out[2];
    transform.apply(Image{1, 1, 1, {0}}, out);
  });
}

TEST(Transform, WhatItTakesIsForetold) {
  MOIL_NEEDS_TRUE_MEMORY();
  return_freed_memory();
  Image image;
  image.resize(3000, 2000, 3);
  for (const int channels : {1, 3}) {
    auto d = description(channels, Resize::kShortSide, 224, 224);
    d.short_side = 256;
    d.filter = Filter::kBicubic;
    Transform transform(d);
    std::vector<float> out(d.floats());
    reset_peak_memory();
    const std::size_t before = resident_memory().bytes;
    transform.apply(image, View{true, 1.25, 0, 1}, out.data());
    const std::size_t taken = resident_memory().peak_bytes - before;
    const std::size_t foretold = transform.working_bytes(3000, 2000, 3);
    EXPECT_LE(taken, foretold + (256 << 10)) << channels;
    EXPECT_LE(foretold, taken + (8 << 20)) << channels;
    transform.release();
    EXPECT_LE(resident_memory().bytes, before + (1 << 20)) << channels;
  }
}

TEST(Transform, AbsurdProportionsAreRefused) {
  auto d = description(1, Resize::kShortSide, 256, 256);
  d.short_side = 256;
  Image line;
  line.resize(1'000'000, 1, 1);
  expect_error(ErrorCode::kBadData, {"1000000x1"}, [&] { (void)Transform(d).geometry(line); });
}

TEST(Preprocessing, JsonGoesBothWaysAndNamesTheDescription) {
  auto d = description(3, Resize::kShortSide, 224, 224);
  d.short_side = 256;
  d.filter = Filter::kBicubic;
  d.scale = 1.0 / 255;
  d.mean = {0.485, 0.456, 0.406};
  d.stddev = {0.229, 0.224, 0.225};
  const auto back = Preprocessing::from_json(parsed_json(d.to_json().dump()));
  EXPECT_EQ(back, d);
  EXPECT_EQ(back.fingerprint(), d.fingerprint());
  auto other = d;
  other.mean[1] = 0.4560001;
  EXPECT_NE(other.fingerprint(), d.fingerprint());
}

TEST(Preprocessing, BadFieldsAreNamed) {
  const nlohmann::json good = description(1, Resize::kExact, 8, 8).to_json();
  const auto refused = [&](const char* field, const nlohmann::json& value) {
    auto json = good;
    json[field] = value;
    expect_error(ErrorCode::kInvalidArgument, {field},
                 [&] { (void)Preprocessing::from_json(json); });
  };
  refused("channels", 2);
  refused("channels", "one");
  refused("height", 0);
  refused("height", 1.5);
  refused("width", 1 << 30);
  refused("resize", "stretch");
  refused("filter", "lanczos");
  refused("mean", {1, 2});
  refused("std", {0});
  refused("scale", "big");
  refused("colour", 1);
  auto missing = good;
  missing.erase("std");
  expect_error(ErrorCode::kInvalidArgument, {"'std' is missing"},
               [&] { (void)Preprocessing::from_json(missing); });
  expect_error(ErrorCode::kInvalidArgument, {"object"}, [] { (void)Preprocessing::from_json(3); });
  auto side = good;
  side["resize"] = "short_side";
  side["short_side"] = 7;
  expect_error(ErrorCode::kInvalidArgument, {"short_side"},
               [&] { (void)Preprocessing::from_json(side); });
}

}  // namespace
}  // namespace moil::data
