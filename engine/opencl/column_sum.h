// Sums over the rows of [rows, columns] arrays, in two passes: parts of the rows, then the parts.
//
// The number of parts depends on the shape alone, so that the same sums have the same bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/opencl/kernel.h"

namespace moil::opencl {

inline std::int64_t sum_parts(std::int64_t rows) {
  return std::clamp<std::int64_t>(rows / 32, 1, 256);
}

class ColumnSum {
 public:
  explicit ColumnSum(Device& device);
  static std::size_t workspace_bytes(std::int64_t rows, std::int64_t columns) {
    return static_cast<std::size_t>(sum_parts(rows) * columns) * sizeof(float);
  }
  // out[c] = (accumulate ? out[c] : 0) + the sum of x[., c]. at: where in the workspace the parts
  // may lie, in elements.
  void run(std::int64_t rows, std::int64_t columns, cl_mem x, cl_mem out, bool accumulate,
           cl_mem workspace, std::int64_t at = 0);

 private:
  Kernel parts_, total_;
};

}  // namespace moil::opencl
