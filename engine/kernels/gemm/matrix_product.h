// The two products of matrices that convolutions are made of, by provider: Highway's or OpenBLAS's.
#pragma once

#include "engine/kernels/gemm/gemm.h"

namespace moil {

struct MatrixProduct {
  // The second factor [k x n] in the provider's form; filled rows by rows (see pack_b_rows).
  std::size_t (*packed_bytes)(std::int64_t k, std::int64_t n);
  void (*pack_rows)(Transpose transposed, std::int64_t k, std::int64_t n, std::int64_t row,
                    std::int64_t rows, const float* b, std::int64_t ldb, std::byte* packed);
  // C[m x n] = activation(A[m x k] * B + bias): on this thread, and on all.
  using Multiply = void (*)(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                            std::int64_t lda, const std::byte* packed, float* c, std::int64_t ldc,
                            const GemmEpilogue& epilogue);
  Multiply multiply_serial;
  Multiply multiply;
  // C[k x n] += transpose(A[m x k]) * B[m x n], on this thread.
  void (*multiply_transposed_serial)(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                                     std::int64_t lda, const float* b, std::int64_t ldb, float* c,
                                     std::int64_t ldc);
  bool plain;  // the packed form is the matrix itself, row-major
};

extern const MatrixProduct kPackedProduct;  // a row's result depends on that row alone
extern const MatrixProduct kBlasProduct;

}  // namespace moil
