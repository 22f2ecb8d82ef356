#include "engine/kernels/gemm/matrix_product.h"

#include <algorithm>
#include <cstring>

#include "engine/kernels/parallel.h"

namespace moil {
namespace {

std::size_t plain_bytes(std::int64_t k, std::int64_t n) {
  return static_cast<std::size_t>(k * n) * sizeof(float);
}

void copy_rows(Transpose transposed, std::int64_t, std::int64_t n, std::int64_t row,
               std::int64_t rows, const float* b, std::int64_t ldb, std::byte* packed) {
  float* to = reinterpret_cast<float*>(packed) + row * n;
  const std::int64_t grain = std::max<std::int64_t>(16, 16 * 1024 / n);
  parallel_for(rows, grain, [&](std::int64_t begin, std::int64_t end) {
    if (transposed == Transpose::kNo) {
      for (std::int64_t i = begin; i < end; ++i)
        std::memcpy(to + i * n, b + i * ldb, static_cast<std::size_t>(n) * sizeof(float));
      return;
    }
    constexpr std::int64_t kBlock = 16;
    for (std::int64_t i0 = begin; i0 < end; i0 += kBlock)
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = i0; i < std::min(end, i0 + kBlock); ++i)
          to[i * n + j] = b[j * ldb + i];
  });
}

// Bias and activation over rows that are still in the cache. NaN passes through.
void apply(std::int64_t m, std::int64_t n, float* c, std::int64_t ldc, const GemmEpilogue& e) {
  const bool clamps = e.activation != FusedActivation::kNone;
  const bool six = e.activation == FusedActivation::kRelu6;
  for (std::int64_t i = 0; i < m; ++i, c += ldc) {
    if (e.bias)
      for (std::int64_t j = 0; j < n; ++j) c[j] += e.bias[j];
    if (clamps)
      for (std::int64_t j = 0; j < n; ++j) c[j] = c[j] < 0.0F ? 0.0F : c[j];
    if (six)
      for (std::int64_t j = 0; j < n; ++j) c[j] = c[j] > 6.0F ? 6.0F : c[j];
  }
}

void blas_multiply_serial(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                          std::int64_t lda, const std::byte* packed, float* c, std::int64_t ldc,
                          const GemmEpilogue& epilogue) {
  const auto* b = reinterpret_cast<const float*>(packed);
  sgemm_serial(Transpose::kNo, Transpose::kNo, m, n, k, 1.0F, a, lda, b, n, 0.0F, c, ldc);
  apply(m, n, c, ldc, epilogue);
}

void blas_multiply(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
                   const std::byte* packed, float* c, std::int64_t ldc,
                   const GemmEpilogue& epilogue) {
  const auto* b = reinterpret_cast<const float*>(packed);
  sgemm(Transpose::kNo, Transpose::kNo, m, n, k, 1.0F, a, lda, b, n, 0.0F, c, ldc);
  if (!epilogue.bias && epilogue.activation == FusedActivation::kNone) return;
  parallel_for(m, std::max<std::int64_t>(1, 16 * 1024 / n),
               [&](std::int64_t begin, std::int64_t end) {
                 apply(end - begin, n, c + begin * ldc, ldc, epilogue);
               });
}

void blas_multiply_transposed(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                              std::int64_t lda, const float* b, std::int64_t ldb, float* c,
                              std::int64_t ldc) {
  sgemm_serial(Transpose::kYes, Transpose::kNo, k, n, m, 1.0F, a, lda, b, ldb, 1.0F, c, ldc);
}

}  // namespace

const MatrixProduct kPackedProduct = {
    packed_b_bytes, pack_b_rows, packed_gemm_serial, packed_gemm, gemm_transposed_a_serial,
    /*plain=*/false};
const MatrixProduct kBlasProduct = {
    plain_bytes,   copy_rows, blas_multiply_serial, blas_multiply, blas_multiply_transposed,
    /*plain=*/true};

}  // namespace moil
