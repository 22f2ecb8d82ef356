// Antialiased resizing of 8-bit images by separable convolution, bit for bit as Pillow does it:
// the filter's support grows with the reduction, weights are rounded to 22 bits, and the result of
// the horizontal pass is rounded to 8 bits before the vertical one.
//
// Only a window of the result is computed, so cropping after resizing costs no more than it must.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/images/image.h"

namespace moil::data {

enum class Filter { kBilinear, kBicubic };

// The rectangle of the resized image that is wanted.
struct Window {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
};

// Holds its working memory between calls: one a thread.
class Resampler {
 public:
  // Resizes to width x height and writes the window of it to `result` (not `image` itself). The
  // window lies within the result; dimensions are positive.
  void resize(const Image& image, int width, int height, Filter filter, const Window& window,
              Image& result);

 private:
  // The weights of one direction: result position i is the sum over k < count[i] of
  // weights[i * taps + k] times input position first[i] + k.
  struct Axis {
    int input = 0, output = 0, from = 0, size = 0, taps = 0;
    Filter filter = Filter::kBilinear;
    std::vector<int> first, count;
    std::vector<std::int32_t> weights;
    std::vector<double> scratch;

    void prepare(int new_input, int new_output, Filter new_filter, int new_from, int new_size);
    bool is_identity() const { return input == output; }
  };

  void horizontal(const Image& image, int first_row, int rows);
  void vertical(const Image& image, int first_row, int left, Image& result);

  Axis columns_, rows_;
  Image between_;  // resized in width only
  std::vector<std::int32_t> sums_;
};

}  // namespace moil::data
