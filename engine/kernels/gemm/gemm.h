// Products of matrices, row-major, fp32.
//
// sgemm() is OpenBLAS, cut over our own threads (OpenBLAS runs one thread a call, so there is one
// pool). packed_gemm() is ours: the second factor is packed once (weights), the first is read where
// it lies, bias and activation are applied on the way out, and an element of the result is the same
// chain of multiply-adds whatever the number of rows and wherever its row stands. few_rows_gemm()
// and gemm_transposed_a() are ours, too: a step of a layer whose weights outweigh its batch.
// Thread-safe; nothing allocates. Memory needs no alignment, but packed weights want 64 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/kernels/gemm/fused_activation.h"

namespace moil {

enum class Transpose : std::uint8_t { kNo, kYes };

// C[m x n] = alpha * op(A)[m x k] * op(B)[k x n] + beta * C; lda, ldb, ldc are row strides in
// memory, in elements. beta 0 overwrites C, whatever it held. Parallel over rows or columns of C.
void sgemm(Transpose a_transposed, Transpose b_transposed, std::int64_t m, std::int64_t n,
           std::int64_t k, float alpha, const float* a, std::int64_t lda, const float* b,
           std::int64_t ldb, float beta, float* c, std::int64_t ldc);

// The same on the calling thread alone.
void sgemm_serial(Transpose a_transposed, Transpose b_transposed, std::int64_t m, std::int64_t n,
                  std::int64_t k, float alpha, const float* a, std::int64_t lda, const float* b,
                  std::int64_t ldb, float beta, float* c, std::int64_t ldc);

// What happens to C on its way out of packed_gemm.
struct GemmEpilogue {
  const float* bias = nullptr;  // n values, or null
  FusedActivation activation = FusedActivation::kNone;
};

// Bytes of packed B; depends on the CPU, so packed weights are never stored in files.
[[nodiscard]] std::size_t packed_b_bytes(std::int64_t k, std::int64_t n);

// Packs op(B)[k x n]; kYes: b holds [n x k]. ldb as above. Parallel.
void pack_b(Transpose transposed, std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb,
            std::byte* packed);

// The rows [row, row + rows) of op(B) alone, which are op(b)[rows x n]: for factors that lie in
// several places. All rows must be packed before use.
void pack_b_rows(Transpose transposed, std::int64_t k, std::int64_t n, std::int64_t row,
                 std::int64_t rows, const float* b, std::int64_t ldb, std::byte* packed);

// C[m x n] = activation(A[m x k] * B + bias). Parallel over rows, or columns if rows are few.
void packed_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
                 const std::byte* packed, float* c, std::int64_t ldc, const GemmEpilogue& epilogue);
void packed_gemm_serial(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                        std::int64_t lda, const std::byte* packed, float* c, std::int64_t ldc,
                        const GemmEpilogue& epilogue);

// C[m x n] = A[m x k] * transpose(B[n x k]) + bias (n values, or null) for a small m: B is read
// once and where it lies, which is most of the work then. Parallel over n.
void few_rows_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
                   const float* b, std::int64_t ldb, const float* bias, float* c, std::int64_t ldc);

// C[k x n] += transpose(A[m x k]) * B[m x n] on the calling thread: the shape of a weight gradient.
// Sums in blocks of rows, which keeps rounding small.
void gemm_transposed_a_serial(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                              std::int64_t lda, const float* b, std::int64_t ldb, float* c,
                              std::int64_t ldc);

// The same, or without `accumulate` C = ..., whatever C held. Parallel over k.
void gemm_transposed_a(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                       std::int64_t lda, const float* b, std::int64_t ldb, bool accumulate,
                       float* c, std::int64_t ldc);

}  // namespace moil
