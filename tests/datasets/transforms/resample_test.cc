// Expected values come from Pillow 11.3 (Image.resize) on the same pattern; its results are the
// definition of what this project calls bilinear and bicubic.
#include "datasets/transforms/resample.h"

#include "datasets/identity/digest.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"

namespace moil::data {
namespace {

using test::pattern;
using ::testing::ElementsAre;

Image resize(const Image& image, int width, int height, Filter filter) {
  Resampler resampler;
  Image result;
  resampler.resize(image, width, height, filter, {0, 0, width, height}, result);
  return result;
}

TEST(Resample, AgreesWithPillowValueByValue) {
  EXPECT_THAT(resize(pattern(9, 7, 1), 5, 4, Filter::kBilinear).pixels,
              ElementsAre(23, 40, 79, 137, 140, 85, 114, 151, 146, 100, 159, 186, 103, 109, 175,
                          211, 133, 108, 187, 137));
  EXPECT_THAT(resize(pattern(9, 7, 1), 5, 4, Filter::kBicubic).pixels,
              ElementsAre(17, 33, 73, 143, 142, 82, 118, 161, 149, 91, 157, 199, 97, 93, 188, 224,
                          123, 100, 202, 132));
}

struct Case {
  int width, height, channels, new_width, new_height;
  Filter filter;
  const char* digest;
};

TEST(Resample, AgreesWithPillowInEveryDirection) {
  const Case cases[] = {
      {97, 61, 3, 32, 32, Filter::kBilinear, "1d0155762afdd2832e2b1f72f008312e"},
      {97, 61, 3, 32, 32, Filter::kBicubic, "c18c4a1c9ab79c6a11203077d29697d1"},
      {61, 97, 3, 24, 97, Filter::kBicubic, "4de9049d179ec5a023c89c92b2b5ff18"},
      {61, 97, 1, 61, 40, Filter::kBilinear, "976068519603521835d4782191756f7e"},
      {20, 10, 3, 50, 70, Filter::kBicubic, "b10c1631d90b5afc9d375435a95aed7f"},
      {500, 300, 4, 7, 90, Filter::kBilinear, "63bb6dfb68212a66727d6f8fa0a6b7ac"},
  };
  for (const Case& c : cases) {
    const Image result =
        resize(pattern(c.width, c.height, c.channels), c.new_width, c.new_height, c.filter);
    EXPECT_EQ(digest_of(result.pixels).hex(), c.digest) << c.new_width << "x" << c.new_height;
  }
}

TEST(Resample, AWindowIsThatPartOfTheWhole) {
  Resampler resampler;
  for (const auto& [width, height] : {std::pair(40, 30), {97, 30}, {40, 61}, {97, 61}}) {
    const Image whole = resize(pattern(97, 61, 3), width, height, Filter::kBicubic);
    const Window window{5, 7, 20, 11};
    Image part;
    resampler.resize(pattern(97, 61, 3), width, height, Filter::kBicubic, window, part);
    for (int y = 0; y < window.height; ++y) {
      for (int x = 0; x < window.width * 3; ++x) {
        const auto in_part = static_cast<std::size_t>(y * window.width * 3 + x);
        const auto in_whole =
            static_cast<std::size_t>(((y + window.top) * width + window.left) * 3 + x);
        ASSERT_EQ(part.pixels[in_part], whole.pixels[in_whole]) << width << "x" << height;
      }
    }
  }
}

TEST(Resample, TheSameResamplerServesOtherSizes) {
  Resampler resampler;
  Image first, second, again;
  resampler.resize(pattern(30, 20, 3), 10, 10, Filter::kBilinear, {0, 0, 10, 10}, first);
  resampler.resize(pattern(31, 20, 1), 12, 9, Filter::kBicubic, {0, 0, 12, 9}, second);
  resampler.resize(pattern(30, 20, 3), 10, 10, Filter::kBilinear, {0, 0, 10, 10}, again);
  EXPECT_EQ(first, again);
}

}  // namespace
}  // namespace moil::data
