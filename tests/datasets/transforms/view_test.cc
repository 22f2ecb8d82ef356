#include "datasets/transforms/view.h"

#include <limits>

#include "datasets/transforms/transform.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"

namespace moil::data {
namespace {

using test::expect_error;
using test::pattern;
using ::testing::ElementsAre;
using Resize = Preprocessing::Resize;

Digest digest(int i) { return digest_of("sample " + std::to_string(i)); }

Preprocessing description(Resize resize, int height, int width, int short_side = 0) {
  Preprocessing d;
  d.channels = 3;
  d.resize = resize;
  d.short_side = short_side;
  d.filter = Filter::kBicubic;
  d.height = height;
  d.width = width;
  d.mean = {0, 0, 0};
  d.stddev = {1, 1, 1};
  return d;
}

// The steps one after the other, each over the whole image.
Image by_steps(const Image& image, int width, int height, const Window& window, bool flip) {
  Image resized = image, result;
  Resampler resampler;
  if (width != image.width || height != image.height)
    resampler.resize(image, width, height, Filter::kBicubic, {0, 0, width, height}, resized);
  result.resize(window.width, window.height, 3);
  for (int y = 0; y < window.height; ++y) {
    for (int x = 0; x < window.width; ++x) {
      const int from = window.left + (flip ? window.width - 1 - x : x);
      const auto in = static_cast<std::size_t>((window.top + y) * width + from) * 3;
      const auto out = static_cast<std::size_t>(y * window.width + x) * 3;
      std::copy_n(&resized.pixels[in], 3, &result.pixels[out]);
    }
  }
  return result;
}

// Computed by an independent implementation of XXH3, splitmix64 and xoshiro256**: a view must be
// the same on every machine, for ever.
TEST(View, NumbersAreFixed) {
  const struct {
    const char* sample;
    std::uint16_t number;
    View view;
  } cases[] = {
      {"000102030405060708090a0b0c0d0e0f",
       1,
       {false, 0x1.1a592d3b89dcfp+0, 0x1.d1e4d029236a9p-1, 0x1.5fe9cb86096c0p-3}},
      {"000102030405060708090a0b0c0d0e0f",
       2,
       {false, 0x1.0cd6fb48f49c7p+0, 0x1.db5ece7c1a74fp-1, 0x1.1d5611ba4074ep-2}},
      {"000102030405060708090a0b0c0d0e0f",
       63,
       {false, 0x1.18e1cfb66ff35p+0, 0x1.983172966e4edp-1, 0x1.d889d6d3ac564p-2}},
      {"ffeeddccbbaa99887766554433221100",
       1,
       {true, 0x1.1d3db61691ef2p+0, 0x1.96a31ddf05113p-1, 0x1.41f153357bf1ap-1}},
  };
  for (const auto& c : cases) {
    const Digest sample = Digest::from_hex(c.sample);
    EXPECT_EQ(view_of(sample, c.number, true), c.view) << c.sample << " " << c.number;
    View unmirrored = c.view;
    unmirrored.flip = false;
    EXPECT_EQ(view_of(sample, c.number, false), unmirrored);
  }
}

TEST(View, NumberZeroIsPlain) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(view_of(digest(i), 0, true), View{});
}

TEST(View, DrawsAreSpreadOverTheirRanges) {
  int flips = 0, left = 0, top = 0, large = 0;
  for (int i = 0; i < 1000; ++i) {
    const View view = view_of(digest(i), static_cast<std::uint16_t>(1 + i % 63), true);
    ASSERT_TRUE(view.zoom >= 1 && view.zoom <= 1.25 && view.x >= 0 && view.x < 1 && view.y >= 0 &&
                view.y < 1);
    flips += view.flip ? 1 : 0;
    left += view.x < 0.5 ? 1 : 0;
    top += view.y < 0.5 ? 1 : 0;
    large += view.zoom > 1.125 ? 1 : 0;
  }
  for (const int count : {flips, left, top, large}) EXPECT_NEAR(count, 500, 60);
}

TEST(TransformOfAView, PlainIsTheSameBits) {
  for (const Preprocessing& d :
       {description(Resize::kShortSide, 29, 31, 32), description(Resize::kExact, 24, 20),
        description(Resize::kNone, 40, 50), description(Resize::kNone, 61, 97)}) {
    Transform transform(d);
    std::vector<float> plain(d.floats()), viewed(d.floats());
    transform.apply(pattern(97, 61, 3), plain.data());
    transform.apply(pattern(97, 61, 3), view_of(digest(1), 0, true), viewed.data());
    EXPECT_EQ(plain, viewed);
  }
}

TEST(TransformOfAView, MirrorsLeftAndRight) {
  Preprocessing d = description(Resize::kNone, 2, 3);
  Transform transform(d);
  const Image image{3, 2, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19}};
  const Image before = image;
  EXPECT_THAT(transform.geometry(image, {.flip = true}).pixels,
              ElementsAre(7, 8, 9, 4, 5, 6, 1, 2, 3, 17, 18, 19, 14, 15, 16, 11, 12, 13));
  EXPECT_EQ(image, before);
  EXPECT_EQ(transform.geometry(image), image);
}

TEST(TransformOfAView, AgreesWithItsStepsOneAfterTheOther) {
  const Image image = pattern(97, 61, 3);
  const struct {
    Preprocessing description;
    View view;
    int width, height;  // resized to
    Window window;
  } cases[] = {
      {description(Resize::kExact, 24, 20), {true, 1.25, 0, 0}, 25, 30, {0, 0, 20, 24}},
      {description(Resize::kExact, 24, 20), {false, 1.25, 1, 1}, 25, 30, {5, 6, 20, 24}},
      {description(Resize::kExact, 24, 20), {true, 1, 0.9, 0.1}, 20, 24, {0, 0, 20, 24}},
      {description(Resize::kShortSide, 29, 31, 32),
       {true, 1.1, 0.25, 0.75},
       55,
       35,
       {6, 4, 31, 29}},
      {description(Resize::kShortSide, 29, 31, 32),
       {false, 2, 0.5, 0.5},
       100,
       64,
       {34, 18, 31, 29}},
      {description(Resize::kNone, 21, 37), {true, 1.25, 0.2, 1}, 97, 61, {12, 40, 37, 21}},
  };
  for (const auto& c : cases) {
    Transform transform(c.description);
    EXPECT_EQ(transform.geometry(image, c.view),
              by_steps(image, c.width, c.height, c.window, c.view.flip))
        << c.view.zoom << " at " << c.view.x << ", " << c.view.y;
  }
}

TEST(TransformOfAView, EveryCropLiesInsideTheImage) {
  Image image = pattern(33, 47, 3);
  for (auto& value : image.pixels) value = static_cast<std::uint8_t>(100 + value % 2);
  for (const Preprocessing& d :
       {description(Resize::kShortSide, 8, 8, 9), description(Resize::kExact, 9, 7),
        description(Resize::kNone, 33, 33), description(Resize::kNone, 46, 32)}) {
    Transform transform(d);
    for (int i = 0; i < 200; ++i) {
      for (const std::uint8_t value :
           transform.geometry(image, view_of(digest(i), 1, true)).pixels) {
        ASSERT_TRUE(value == 100 || value == 101) << int{value};  // and no memory beside the image
      }
    }
  }
}

TEST(TransformOfAView, ViewsDiffer) {
  Transform transform(description(Resize::kShortSide, 40, 40, 48));
  std::vector<Image> seen;
  for (std::uint16_t number = 0; number < 8; ++number)
    seen.push_back(transform.geometry(pattern(97, 61, 3), view_of(digest(3), number, true)));
  for (std::size_t a = 0; a < seen.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(seen[a], seen[b]) << a << " " << b;
}

TEST(TransformOfAView, ViewsOutOfRangeAreRefused) {
  Transform transform(description(Resize::kExact, 4, 4));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const View& view : {View{false, 0.5}, View{false, 17}, View{false, nan},
                           View{false, 1, -0.1}, View{false, 1, 0, 1.1}, View{false, 1, nan}}) {
    expect_error(ErrorCode::kInvalidArgument, {"zoom"},
                 [&] { (void)transform.geometry(pattern(9, 9, 3), view); });
  }
  auto d = description(Resize::kShortSide, 256, 256, 256);
  Image line;
  line.resize(60'000, 1, 3);  // 15 million wide once resized, 30 million once enlarged
  expect_error(ErrorCode::kBadData, {"60000x1"},
               [&] { (void)Transform(d).geometry(line, {.zoom = 2}); });
}

}  // namespace
}  // namespace moil::data
