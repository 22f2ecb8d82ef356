#include "datasets/transforms/difference_hash.h"

#include <bit>

namespace moil::data {
namespace {

constexpr int kColumns = 9, kRows = 8;

// The sum of the colours, without alpha.
int brightness(const Image& image, int x, int y) {
  const int colours = image.channels >= 3 ? 3 : 1;
  const std::uint8_t* pixel = image.pixels.data() + (y * image.width + x) * image.channels;
  int sum = 0;
  for (int c = 0; c < colours; ++c) sum += pixel[c];
  return sum;
}

}  // namespace

std::uint64_t DifferenceHash::of(const Image& image) {
  resampler_.resize(image, kColumns, kRows, Filter::kBilinear, {0, 0, kColumns, kRows}, small_);
  std::uint64_t hash = 0;
  for (int y = 0; y < kRows; ++y) {
    for (int x = 1; x < kColumns; ++x) {
      const bool brighter = brightness(small_, x, y) > brightness(small_, x - 1, y);
      hash = hash << 1 | (brighter ? 1U : 0U);
    }
  }
  return hash;
}

bool look_alike(std::uint64_t a, std::uint64_t b) {
  return 8 * std::popcount(a ^ b) <= std::popcount(a | b);
}

}  // namespace moil::data
