// Linear systems with a symmetric positive definite matrix, row-major, fp32 (OpenBLAS).
//
// On the calling thread; the same bits whatever the number of threads. Thread-safe.
#pragma once

#include <cstdint>

namespace moil {

// Overwrites the lower triangle of A [n x n], which alone is read, by its Cholesky factor L, A = L
// transpose(L). False if A is not positive definite in fp32.
[[nodiscard]] bool factor_positive_definite(std::int64_t n, float* a);
// rows: [m x n], samples whose covariance is A. Each x becomes inverse(L) x, whose covariance is
// the identity.
void whiten_rows(std::int64_t n, const float* factor, std::int64_t m, float* rows);
// rows: [m x n], directions among whitened samples. Each r becomes inverse(transpose(L)) r, whose
// product with a sample is that of r with the whitened sample.
void unwhiten_directions(std::int64_t n, const float* factor, std::int64_t m, float* rows);

// Solves A X = B: A is [n x n], of which the lower triangle is read and overwritten by its Cholesky
// factor; B is [n x m] and overwritten by X. False if A is not positive definite in fp32: B is
// then as it was.
[[nodiscard]] bool solve_positive_definite(std::int64_t n, float* a, std::int64_t m, float* b);

}  // namespace moil
