#include "engine/kernels/rows/response_norm.h"

#include <algorithm>
#include <cmath>

namespace moil {
namespace {

// The sum of f over the channels around c.
template <class F>
float around(const ResponseNorm& norm, std::int64_t channels, std::int64_t c, const F& f) {
  const std::int64_t half = norm.size / 2;
  const std::int64_t end = std::min(channels, c + half + 1);
  float sum = 0;
  for (std::int64_t k = std::max<std::int64_t>(0, c - half); k < end; ++k) sum += f(k);
  return sum;
}

float size_at(const ResponseNorm& norm, const float* x, std::int64_t channels, std::int64_t c) {
  const float squares = around(norm, channels, c, [&](std::int64_t k) { return x[k] * x[k]; });
  return norm.bias + norm.alpha / static_cast<float>(norm.size) * squares;
}

// s^-beta; the papers' beta by roots alone.
float divisor(float s, float beta) {
  if (beta == 0.75F) return 1 / (std::sqrt(s) * std::sqrt(std::sqrt(s)));
  return std::pow(s, -beta);
}

}  // namespace

void response_norm(const ResponseNorm& norm, const float* x, float* y, std::int64_t channels,
                   std::int64_t begin, std::int64_t end) {
  for (std::int64_t at = begin * channels; at < end * channels; at += channels)
    for (std::int64_t c = 0; c < channels; ++c)
      y[at + c] = x[at + c] * divisor(size_at(norm, x + at, channels, c), norm.beta);
}

void response_norm_derivative(const ResponseNorm& norm, const float* x, const float* dy, float* dx,
                              float* scratch, std::int64_t channels, std::int64_t begin,
                              std::int64_t end) {
  float *direct = scratch, *shares = scratch + channels;
  const float factor = 2 * norm.alpha * norm.beta / static_cast<float>(norm.size);
  for (std::int64_t at = begin * channels; at < end * channels; at += channels) {
    for (std::int64_t c = 0; c < channels; ++c) {
      const float s = size_at(norm, x + at, channels, c);
      direct[c] = dy[at + c] * divisor(s, norm.beta);
      shares[c] = direct[c] * x[at + c] / s;
    }
    for (std::int64_t c = 0; c < channels; ++c) {
      const float others = around(norm, channels, c, [&](std::int64_t k) { return shares[k]; });
      dx[at + c] = direct[c] - factor * x[at + c] * others;
    }
  }
}

}  // namespace moil
