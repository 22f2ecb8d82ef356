// Products of matrices by CLBlast, row-major, whose scratch memory is the caller's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/opencl/device.h"

namespace moil::opencl {

// A matrix in a buffer, its first element and its row length in elements.
struct Matrix {
  cl_mem buffer = nullptr;
  std::int64_t offset = 0, stride = 0;
  bool transposed = false;
};

// What CLBlast needs for [m, k] * [k, n] of these strides and offsets, in bytes.
std::size_t gemm_workspace_bytes(Device& device, std::int64_t m, std::int64_t n, std::int64_t k,
                                 const Matrix& a, const Matrix& b, const Matrix& c);

// c = a * b, or c + a * b with `accumulate`. A workspace that is too small is a ProcessorError.
void gemm(Device& device, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
          const Matrix& b, const Matrix& c, bool accumulate, cl_mem workspace);

}  // namespace moil::opencl
