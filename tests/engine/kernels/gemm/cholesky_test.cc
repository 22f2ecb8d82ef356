#include "engine/kernels/gemm/cholesky.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace moil {
namespace {

TEST(Cholesky, SolvesForSeveralRightHandSides) {
  constexpr std::int64_t n = 37, m = 5, k = 60;
  Random random(3);
  std::vector<double> x(n * k), a(n * n), b(n * m), expected(n * m);
  for (double& v : x) v = random.unit() - 0.5;
  for (double& v : expected) v = random.unit() - 0.5;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t t = 0; t < k; ++t) a[i * n + j] += x[i * k + t] * x[j * k + t];
      a[i * n + j] += i == j ? 0.5 : 0;
    }
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < m; ++j)
      for (std::int64_t t = 0; t < n; ++t) b[i * m + j] += a[i * n + t] * expected[t * m + j];
  std::vector<float> matrix(a.begin(), a.end()), solved(b.begin(), b.end());
  for (std::int64_t i = 0; i < n; ++i)  // the upper triangle is not read
    for (std::int64_t j = i + 1; j < n; ++j) matrix[i * n + j] = 1e9F;
  ASSERT_TRUE(solve_positive_definite(n, matrix.data(), m, solved.data()));
  for (std::size_t i = 0; i < solved.size(); ++i)
    EXPECT_NEAR(solved[i], expected[i], 1e-4) << "at " << i;
}

TEST(Cholesky, WhitensRowsByTheirCovariance) {
  const std::vector<float> covariance = {4, 0, 2, 5};  // of which the lower triangle is read
  std::vector<float> factor = covariance, rows = {1, 3, -2, 0.5F}, direction = {0.25F, -1};
  ASSERT_TRUE(factor_positive_definite(2, factor.data()));
  const std::vector<float> before = rows;
  whiten_rows(2, factor.data(), 2, rows.data());
  // The covariance of rows is the identity's: x inverse(A) x is a whitened row's square.
  std::vector<float> matrix = covariance, solved = {1, 3};
  ASSERT_TRUE(solve_positive_definite(2, matrix.data(), 1, solved.data()));
  EXPECT_NEAR(rows[0] * rows[0] + rows[1] * rows[1], 1 * solved[0] + 3 * solved[1], 1e-5);
  const float product = direction[0] * rows[2] + direction[1] * rows[3];
  unwhiten_directions(2, factor.data(), 1, direction.data());
  EXPECT_NEAR(direction[0] * before[2] + direction[1] * before[3], product, 1e-5);
}

TEST(Cholesky, SaysWhereAMatrixIsNotPositiveDefinite) {
  std::vector<float> matrix = {1, 0, 2, 1}, b = {3, 4};
  EXPECT_FALSE(solve_positive_definite(2, matrix.data(), 1, b.data()));
  EXPECT_EQ(b, (std::vector<float>{3, 4}));
}

}  // namespace
}  // namespace moil
