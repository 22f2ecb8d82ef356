// Gradients of weights that every row shares: sums over rows, gathered part by part.
//
// Rows are cut into parts whose number depends on the sizes alone, and the parts are added in their
// order: the same bits for any number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/kernels/parallel.h"

namespace moil {

inline int row_parts(std::int64_t rows, std::int64_t columns) {
  return static_cast<int>(std::clamp<std::int64_t>(std::min(rows, rows * columns / 16384), 1, 8));
}

// Bytes for `width` sums a part.
[[nodiscard]] inline std::size_t row_sums_workspace(std::int64_t rows, std::int64_t columns,
                                                    std::int64_t width) {
  return static_cast<std::size_t>(row_parts(rows, columns) * width) * sizeof(float);
}

// Calls add(begin, end, sums) for the rows of every part, sums being `width` zeros at first, and
// gives the sums of all.
template <class Add>
float* sum_rows(std::int64_t rows, std::int64_t columns, std::int64_t width, std::byte* workspace,
                const Add& add) {
  auto* totals = reinterpret_cast<float*>(workspace);
  const int parts = row_parts(rows, columns);
  parallel_parts(parts, [&](int part) {
    float* sums = totals + part * width;
    std::fill(sums, sums + width, 0.0F);
    const Range range = part_of(rows, part, parts);
    add(range.begin, range.end, sums);
  });
  for (int part = 1; part < parts; ++part)
    for (std::int64_t c = 0; c < width; ++c) totals[c] += totals[part * width + c];
  return totals;
}

// What CG leaves: the sums, or these and what was there before.
inline void store_sums(const float* sums, std::int64_t count, bool accumulate, float* gradient) {
  if (!gradient) return;
  for (std::int64_t c = 0; c < count; ++c)
    gradient[c] = accumulate ? gradient[c] + sums[c] : sums[c];
}

}  // namespace moil
