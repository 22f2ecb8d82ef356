#include "engine/kernels/rows/transpose.h"

#include <algorithm>

namespace moil {
namespace {

// A tile's lines of both matrices stay in the first-level cache while it is turned.
constexpr std::int64_t kTile = 16;

void transpose_tile(const float* in, float* out, std::int64_t rows, std::int64_t columns,
                    std::int64_t tile_rows, std::int64_t tile_columns) {
  for (std::int64_t c = 0; c < tile_columns; ++c) {
    for (std::int64_t r = 0; r < tile_rows; ++r) out[c * rows + r] = in[r * columns + c];
  }
}

}  // namespace

void transpose(const float* in, float* out, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; r += kTile) {
    for (std::int64_t c = 0; c < columns; c += kTile) {
      transpose_tile(in + r * columns + c, out + c * rows + r, rows, columns,
                     std::min(kTile, rows - r), std::min(kTile, columns - c));
    }
  }
}

}  // namespace moil
