// Images of another size, read from one pixel or between two along each axis.
//
// Channels-last. Pure; thread-safe; allocate nothing.
#pragma once

#include <cstdint>
#include <span>

namespace moil {

// Where a row or column of the result lies in the input: `first` and, by its share, `second`.
struct Tap {
  std::int64_t first = 0, second = 0;
  float share = 0;  // of the second
};

struct ResizeShape {
  std::int64_t batch = 1, channels = 1, in_h = 1, in_w = 1;
  std::span<const Tap> rows, columns;  // one for each row and column of the result
};

// Rows [begin, end) of the output, counted over the batch.
void resize_image(const ResizeShape& shape, const float* in, float* out, std::int64_t begin,
                  std::int64_t end);

// Samples [begin, end).
void resize_derivative(const ResizeShape& shape, const float* dy, float* dx, std::int64_t begin,
                       std::int64_t end);

}  // namespace moil
