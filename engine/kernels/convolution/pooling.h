// Max and average pooling over channels-last images, vectorised.
//
// Forward functions fill rows [begin, end) of the output, counted over the batch: row = n * out_h +
// y. Derivatives gather: they fill rows [begin, end) of the input's derivative, row = n * in_h + y,
// so no two rows write one place. Pure; thread-safe; allocate nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace moil {

struct PoolShape {
  std::int64_t batch = 1, channels = 1, in_h = 1, in_w = 1, out_h = 1, out_w = 1;
  std::int64_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1;
  std::int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  std::int64_t dilation_h = 1, dilation_w = 1;  // of maxima alone: averages take all of a window
  bool count_include_pad = true;                // average: whether padding counts in the divisor

  // What a window spans of the input, its gaps included.
  std::int64_t span_h() const { return (kernel_h - 1) * dilation_h + 1; }
  std::int64_t span_w() const { return (kernel_w - 1) * dilation_w + 1; }
};

// Bytes of one entry of `argmax`: where in its window the maximum stood (the first of equals, in
// row-major order). 1, or 2 if a window has more than 256 places.
std::size_t argmax_bytes(const PoolShape& shape);

// argmax (out elements entries) may be null. A NaN in the window is its maximum.
void max_pool(const PoolShape& shape, const float* in, float* out, std::byte* argmax,
              std::int64_t begin, std::int64_t end);
void max_pool_derivative(const PoolShape& shape, const float* dy, const std::byte* argmax,
                         float* dx, std::int64_t begin, std::int64_t end);

void average_pool(const PoolShape& shape, const float* in, float* out, std::int64_t begin,
                  std::int64_t end);
void average_pool_derivative(const PoolShape& shape, const float* dy, float* dx, std::int64_t begin,
                             std::int64_t end);

// Samples [begin, end) of [batch, pixels, channels] -> [batch, channels], and back.
void global_average_pool(const float* in, float* out, std::int64_t pixels, std::int64_t channels,
                         std::int64_t begin, std::int64_t end);
void global_average_pool_derivative(const float* dy, float* dx, std::int64_t pixels,
                                    std::int64_t channels, std::int64_t begin, std::int64_t end);

}  // namespace moil
