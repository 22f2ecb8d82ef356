// Batch normalisation over [rows, channels] arrays (channels-last), vectorised and parallel.
//
// Rows are cut into parts whose number depends on the sizes alone, and sums are gathered in double
// in the order of the parts: the same bits for any number of threads. Nothing is allocated; callers
// bring the workspace. Not to be called from within a parallel loop.
#pragma once

#include <cstddef>
#include <cstdint>

namespace moil {

struct RowShape {
  std::int64_t rows = 0, channels = 0;
};

// Bytes of workspace that the two functions of sums need.
std::size_t channel_sums_workspace(const RowShape& shape);

// Mean and biased variance of every channel.
void channel_statistics(const float* x, const RowShape& shape, float* mean, float* variance,
                        std::byte* workspace);

// Sums over the rows of dy, and of dy * (x - mean). x, mean and dy_x may be null: only dy then.
void channel_derivative_sums(const float* x, const float* mean, const float* dy,
                             const RowShape& shape, float* sum_dy, float* sum_dy_x,
                             std::byte* workspace);

// y = x * scale + shift, each by channel; y may be x. A null shift is 0.
void scale_channels(const float* x, const float* scale, const float* shift, float* y,
                    const RowShape& shape);

// dx = scale * (dy - offset - (x - mean) * slope), each by channel; dx may be dy.
void normalised_derivative(const float* x, const float* dy, float* dx, const float* scale,
                           const float* offset, const float* mean, const float* slope,
                           const RowShape& shape);

}  // namespace moil
