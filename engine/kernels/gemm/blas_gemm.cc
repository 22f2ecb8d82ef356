#include <cblas.h>

#include <mutex>

#include "engine/kernels/gemm/blas.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/gemm/gemm_parts.h"

namespace moil {
void use_one_blas_thread() {
  static std::once_flag once;
  std::call_once(once, [] {
    const int threads = thread_count();
    openblas_set_num_threads(1);
    set_thread_count(threads);
  });
}

namespace {

CBLAS_TRANSPOSE cblas(Transpose t) { return t == Transpose::kYes ? CblasTrans : CblasNoTrans; }
blasint narrow(std::int64_t value) { return static_cast<blasint>(value); }

}  // namespace

void sgemm_serial(Transpose a_transposed, Transpose b_transposed, std::int64_t m, std::int64_t n,
                  std::int64_t k, float alpha, const float* a, std::int64_t lda, const float* b,
                  std::int64_t ldb, float beta, float* c, std::int64_t ldc) {
  use_one_blas_thread();
  cblas_sgemm(CblasRowMajor, cblas(a_transposed), cblas(b_transposed), narrow(m), narrow(n),
              narrow(k), alpha, a, narrow(lda), b, narrow(ldb), beta, c, narrow(ldc));
}

void sgemm(Transpose a_transposed, Transpose b_transposed, std::int64_t m, std::int64_t n,
           std::int64_t k, float alpha, const float* a, std::int64_t lda, const float* b,
           std::int64_t ldb, float beta, float* c, std::int64_t ldc) {
  use_one_blas_thread();
  constexpr std::int64_t kUnit = 16;  // cut where the library's own tiles end
  const bool by_rows = m >= n;
  const std::int64_t count = by_rows ? m : n;
  parallel_gemm_parts(count, (by_rows ? n : m) * k, kUnit, [&](Range r) {
    const float* from_a = a;
    const float* from_b = b;
    if (by_rows)
      from_a += a_transposed == Transpose::kYes ? r.begin : r.begin * lda;
    else
      from_b += b_transposed == Transpose::kYes ? r.begin * ldb : r.begin;
    sgemm_serial(a_transposed, b_transposed, by_rows ? r.size() : m, by_rows ? n : r.size(), k,
                 alpha, from_a, lda, from_b, ldb, beta, c + (by_rows ? r.begin * ldc : r.begin),
                 ldc);
  });
}

}  // namespace moil
