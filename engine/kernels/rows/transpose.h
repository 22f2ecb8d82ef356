// Transposing copies of matrices, by tiles.
#pragma once

#include <cstdint>

namespace moil {

// out [columns, rows] = the transpose of in [rows, columns]; they must not overlap. Thread-safe.
void transpose(const float* in, float* out, std::int64_t rows, std::int64_t columns);

}  // namespace moil
