#include "engine/kernels/convolution/resize.h"

#include <algorithm>

namespace moil {
namespace {

std::int64_t size_of(std::span<const Tap> taps) { return static_cast<std::int64_t>(taps.size()); }

}  // namespace

void resize_image(const ResizeShape& shape, const float* in, float* out, std::int64_t begin,
                  std::int64_t end) {
  const std::int64_t rows = size_of(shape.rows), c = shape.channels, row = shape.in_w * c;
  for (std::int64_t r = begin; r < end; ++r) {
    const Tap& y = shape.rows[static_cast<std::size_t>(r % rows)];
    const float* image = in + r / rows * shape.in_h * row;
    const float *top = image + y.first * row, *bottom = image + y.second * row;
    float* to = out + r * size_of(shape.columns) * c;
    for (const Tap& x : shape.columns) {
      const std::int64_t left = x.first * c, right = x.second * c;
      for (std::int64_t k = 0; k < c; ++k) {
        const float above = top[left + k] + x.share * (top[right + k] - top[left + k]);
        const float below = bottom[left + k] + x.share * (bottom[right + k] - bottom[left + k]);
        to[k] = above + y.share * (below - above);
      }
      to += c;
    }
  }
}

void resize_derivative(const ResizeShape& shape, const float* dy, float* dx, std::int64_t begin,
                       std::int64_t end) {
  const std::int64_t c = shape.channels, row = shape.in_w * c, image = shape.in_h * row;
  const float* from = dy + begin * size_of(shape.rows) * size_of(shape.columns) * c;
  for (std::int64_t n = begin; n < end; ++n) {
    float* to = dx + n * image;
    std::fill(to, to + image, 0.0F);
    for (const Tap& y : shape.rows) {
      float *top = to + y.first * row, *bottom = to + y.second * row;
      for (const Tap& x : shape.columns) {
        const std::int64_t left = x.first * c, right = x.second * c;
        for (std::int64_t k = 0; k < c; ++k) {
          const float below = y.share * from[k], above = from[k] - below;
          top[left + k] += (1 - x.share) * above;
          top[right + k] += x.share * above;
          bottom[left + k] += (1 - x.share) * below;
          bottom[right + k] += x.share * below;
        }
        from += c;
      }
    }
  }
}

}  // namespace moil
