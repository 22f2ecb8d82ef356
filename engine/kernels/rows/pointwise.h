// Element-wise functions with numbers of their own, and sums of a row with every row, vectorised.
//
// Pure functions of the range [begin, end); thread-safe. out may be in, and dx may be dy.
#pragma once

#include <cstdint>

namespace moil {

void scale_shift(const float* in, float factor, float offset, float* out, std::int64_t begin,
                 std::int64_t end);

// A NaN passes through.
void clamp(const float* in, float least, float most, float* out, std::int64_t begin,
           std::int64_t end);
// dx = dy if the input lies strictly between the limits, else 0.
void clamp_derivative(const float* in, float least, float most, const float* dy, float* dx,
                      std::int64_t begin, std::int64_t end);

void reciprocal(const float* in, float* out, std::int64_t begin, std::int64_t end);
// dx = -dy y^2.
void reciprocal_derivative(const float* y, const float* dy, float* dx, std::int64_t begin,
                           std::int64_t end);

// Rows [begin, end) of [rows, columns] arrays plus one row.
void add_row(const float* in, const float* row, float* out, std::int64_t columns,
             std::int64_t begin, std::int64_t end);
// sums += a * b, row by row.
void add_products(const float* a, const float* b, float* sums, std::int64_t columns,
                  std::int64_t begin, std::int64_t end);

// x if it is above zero, else slope * x, one slope a column.
void prelu(const float* x, const float* slopes, float* y, std::int64_t columns, std::int64_t begin,
           std::int64_t end);
void prelu_derivative(const float* x, const float* slopes, const float* dy, float* dx,
                      std::int64_t columns, std::int64_t begin, std::int64_t end);
// sums += dy * x if x is not above zero.
void prelu_sums(const float* x, const float* dy, float* sums, std::int64_t columns,
                std::int64_t begin, std::int64_t end);

}  // namespace moil
