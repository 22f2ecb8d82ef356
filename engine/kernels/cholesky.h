// Linear systems with a symmetric positive definite matrix, row-major, fp32 (OpenBLAS).
//
// On the calling thread; the same bits whatever the number of threads. Thread-safe.
#pragma once

#include <cstdint>

namespace moil {

// Solves A X = B: A is [n x n], of which the lower triangle is read and overwritten by its Cholesky
// factor; B is [n x m] and overwritten by X. False where A is not positive definite in fp32: B is
// then as it was.
[[nodiscard]] bool solve_positive_definite(std::int64_t n, float* a, std::int64_t m, float* b);

}  // namespace moil
