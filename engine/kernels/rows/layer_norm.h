// Normalisation of rows, vectorised.
//
// Rows [begin, end) of [rows, columns] arrays; each by itself. Pure; thread-safe.
#pragma once

#include <cstdint>

namespace moil {

// y = (x - mean) * inverse deviation * gamma + beta; both statistics of every row are written.
// y may be x.
void layer_norm(const float* x, const float* gamma, const float* beta, float* y, float* mean,
                float* inverse, float epsilon, std::int64_t columns, std::int64_t begin,
                std::int64_t end);

// dx = inverse * (g - mean(g) - n * mean(g * n)), where g = dy * gamma and n is the normalised x.
// dx may be dy.
void layer_norm_derivative(const float* x, const float* gamma, const float* dy, float* dx,
                           const float* mean, const float* inverse, std::int64_t columns,
                           std::int64_t begin, std::int64_t end);

// sums[0, columns) += dy * n, sums[columns, 2 columns) += dy.
void layer_norm_sums(const float* x, const float* dy, const float* mean, const float* inverse,
                     float* sums, std::int64_t columns, std::int64_t begin, std::int64_t end);

}  // namespace moil
