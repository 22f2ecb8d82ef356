// Sums, products and copies of arrays, vectorised.
//
// Pure functions of the range [begin, end) of their arrays; thread-safe. out may be an input.
#pragma once

#include <cstdint>
#include <span>

namespace moil {

// Elements that are worth a thread of their own.
inline constexpr std::int64_t kElementGrain = 32768;

// out = the sum of all that are not null (0 if all are null), left to right; each may be out.
void add_all(std::span<const float* const> terms, float* out, std::int64_t begin, std::int64_t end);
void multiply(const float* a, const float* b, float* out, std::int64_t begin, std::int64_t end);

// The larger or smaller of both; NaN if either is.
void larger(const float* a, const float* b, float* out, std::int64_t begin, std::int64_t end);
void smaller(const float* a, const float* b, float* out, std::int64_t begin, std::int64_t end);
// Their derivatives by a: dy if a is the result or one of both is NaN, half of it if both are
// equal, else 0.
void larger_derivative(const float* a, const float* b, const float* dy, float* da,
                       std::int64_t begin, std::int64_t end);
void smaller_derivative(const float* a, const float* b, const float* dy, float* da,
                        std::int64_t begin, std::int64_t end);

// Rows [begin, end) of a [rows, channels] array times one factor a channel.
void multiply_channels(const float* in, const float* factors, float* out, std::int64_t channels,
                       std::int64_t begin, std::int64_t end);

// out[c] = the sum over rows [0, rows) of a * b.
void sum_products_by_channel(const float* a, const float* b, float* out, std::int64_t rows,
                             std::int64_t channels);

// The sum of squares, gathered in double.
double sum_of_squares(const float* in, std::int64_t begin, std::int64_t end);

// Does nothing if in is out.
void copy(const float* in, float* out, std::int64_t begin, std::int64_t end);

}  // namespace moil
