#include "engine/kernels/cholesky.h"

#include <cblas.h>

#include <initializer_list>

#include "engine/kernels/blas.h"

// LAPACK's, which OpenBLAS has inside; its header comes with another package. Column-major.
extern "C" void spotrf_(const char* triangle, const blasint* n, float* a, const blasint* lda,
                        blasint* info);

namespace moil {

bool solve_positive_definite(std::int64_t n, float* a, std::int64_t m, float* b) {
  use_one_blas_thread();
  const auto rows = static_cast<blasint>(n), columns = static_cast<blasint>(m);
  blasint info = 0;
  spotrf_("U", &rows, a, &rows, &info);  // the lower triangle, read row by row
  if (info != 0) return false;
  for (const CBLAS_TRANSPOSE factor : {CblasNoTrans, CblasTrans})
    cblas_strsm(CblasRowMajor, CblasLeft, CblasLower, factor, CblasNonUnit, rows, columns, 1, a,
                rows, b, columns);
  return true;
}

}  // namespace moil
