#include "datasets/transforms/difference_hash.h"

#include <algorithm>
#include <bit>

namespace moil::data {
namespace {

constexpr int kLong = 9, kShort = 8;
constexpr int kSquare = kLong * kShort;  // shrunk to once, for both
constexpr int kSmallestSide = 16, kFewestBits = 16;

// The sum of the colours, without alpha.
int brightness(const Image& image, int x, int y) {
  const int colours = image.channels >= 3 ? 3 : 1;
  const std::uint8_t* pixel = image.pixels.data() + (y * image.width + x) * image.channels;
  int sum = 0;
  for (int c = 0; c < colours; ++c) sum += pixel[c];
  return sum;
}

// Each pixel against the one that lies (left, above) of it.
std::uint64_t brighter(const Image& small, int left, int above) {
  std::uint64_t hash = 0;
  for (int y = above; y < small.height; ++y)
    for (int x = left; x < small.width; ++x)
      hash =
          hash << 1 | (brightness(small, x, y) > brightness(small, x - left, y - above) ? 1U : 0U);
  return hash;
}

}  // namespace

std::optional<Likeness> DifferenceHash::of(const Image& image) {
  if (std::min(image.width, image.height) < kSmallestSide) return std::nullopt;
  const auto shrink = [](Resampler& resampler, const Image& from, int width, int height,
                         Image& to) {
    resampler.resize(from, width, height, Filter::kBilinear, {0, 0, width, height}, to);
  };
  shrink(to_square_, image, kSquare, kSquare, square_);
  shrink(to_wide_, square_, kLong, kShort, wide_);
  shrink(to_tall_, square_, kShort, kLong, tall_);
  const Likeness found{brighter(wide_, 1, 0), brighter(tall_, 0, 1)};
  if (std::popcount(found.across) + std::popcount(found.down) < kFewestBits) return std::nullopt;
  return found;
}

}  // namespace moil::data
