// Local response normalisation: every channel is divided by a power of what its neighbours are.
//
// Rows [begin, end) of [rows, channels] arrays; each by itself. Pure; thread-safe; allocate
// nothing.
#pragma once

#include <cstdint>

namespace moil {

// y = x * s^-beta, where s = bias + alpha / size * the sum of x^2 over `size` channels around;
// channels that are not there are 0. size is odd.
struct ResponseNorm {
  std::int64_t size = 5;
  float alpha = 1e-4F, beta = 0.75F, bias = 1;
};

void response_norm(const ResponseNorm& norm, const float* x, float* y, std::int64_t channels,
                   std::int64_t begin, std::int64_t end);

// scratch: 2 * channels floats. dx may be dy.
void response_norm_derivative(const ResponseNorm& norm, const float* x, const float* dy, float* dx,
                              float* scratch, std::int64_t channels, std::int64_t begin,
                              std::int64_t end);

}  // namespace moil
