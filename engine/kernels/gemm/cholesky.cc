#include "engine/kernels/gemm/cholesky.h"

#include <cblas.h>

#include <initializer_list>

#include "engine/kernels/gemm/blas.h"

// LAPACK's, which OpenBLAS has inside; its header comes with another package. Column-major.
extern "C" void spotrf_(const char* triangle, const blasint* n, float* a, const blasint* lda,
                        blasint* info);

namespace moil {

bool factor_positive_definite(std::int64_t n, float* a) {
  use_one_blas_thread();
  const auto rows = static_cast<blasint>(n);
  blasint info = 0;
  spotrf_("U", &rows, a, &rows, &info);  // the lower triangle, read row by row
  return info == 0;
}

void whiten_rows(std::int64_t n, const float* factor, std::int64_t m, float* rows) {
  use_one_blas_thread();
  cblas_strsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
              static_cast<blasint>(m), static_cast<blasint>(n), 1, factor, static_cast<blasint>(n),
              rows, static_cast<blasint>(n));
}

void unwhiten_directions(std::int64_t n, const float* factor, std::int64_t m, float* rows) {
  use_one_blas_thread();
  cblas_strsm(CblasRowMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit,
              static_cast<blasint>(m), static_cast<blasint>(n), 1, factor, static_cast<blasint>(n),
              rows, static_cast<blasint>(n));
}

bool solve_positive_definite(std::int64_t n, float* a, std::int64_t m, float* b) {
  if (!factor_positive_definite(n, a)) return false;
  const auto rows = static_cast<blasint>(n), columns = static_cast<blasint>(m);
  for (const CBLAS_TRANSPOSE factor : {CblasNoTrans, CblasTrans})
    cblas_strsm(CblasRowMajor, CblasLeft, CblasLower, factor, CblasNonUnit, rows, columns, 1, a,
                rows, b, columns);
  return true;
}

}  // namespace moil
