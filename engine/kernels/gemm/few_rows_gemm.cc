#include <algorithm>

#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/gemm/gemm_parts.h"
#include "engine/kernels/simd/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/gemm/few_rows_gemm.cc"
#include "hwy/foreach_target.h"
//
#include "engine/kernels/simd/partial-inl.h"
#include "hwy/highway.h"

// C = A B^T as dot products: a register tile of them runs along the rows, whose vectors each serve
// several sums. A few rows of B stay in the first-level cache while all of A passes from the
// second.
HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Rows of A and of B in a tile: as many sums as there are registers for.
constexpr int kRowsOfA = kTileRows / 2;
constexpr int kRowsOfB = kTileRows == 12 ? 4 : 3;

struct DotTile {
  const float* a;
  std::int64_t lda;
  const float* b;
  std::int64_t ldb;
  std::int64_t k;
  const float* bias;  // of its first row of B, or null
  float* c;
  std::int64_t ldc;
};

template <int kA, int kB>
HWY_INLINE void add_products(const V (&x)[kA], const V (&y)[kB], V (&sum)[kA][kB]) {
#pragma GCC unroll 6
  for (int i = 0; i < kA; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kB; ++j) sum[i][j] = hn::MulAdd(x[i], y[j], sum[i][j]);
  }
}

template <int kA, int kB>
HWY_NOINLINE void dot_products(const DotTile& t) {
  const D d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V sum[kA][kB], x[kA], y[kB];
#pragma GCC unroll 6
  for (int i = 0; i < kA; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kB; ++j) sum[i][j] = hn::Zero(d);
  }
  std::int64_t k = 0;
  for (; k + lanes <= t.k; k += lanes) {
#pragma GCC unroll 6
    for (int i = 0; i < kA; ++i) x[i] = hn::LoadU(d, t.a + i * t.lda + k);
#pragma GCC unroll 4
    for (int j = 0; j < kB; ++j) y[j] = hn::LoadU(d, t.b + j * t.ldb + k);
    add_products<kA, kB>(x, y, sum);
  }
  if (k < t.k) {
    const auto rest = static_cast<std::size_t>(t.k - k);
    for (int i = 0; i < kA; ++i) x[i] = load_first(d, t.a + i * t.lda + k, rest);
    for (int j = 0; j < kB; ++j) y[j] = load_first(d, t.b + j * t.ldb + k, rest);
    add_products<kA, kB>(x, y, sum);
  }
  for (int i = 0; i < kA; ++i) {
    for (int j = 0; j < kB; ++j)
      t.c[i * t.ldc + j] = hn::GetLane(hn::SumOfLanes(d, sum[i][j])) + (t.bias ? t.bias[j] : 0.0F);
  }
}

template <int kB, int kA = kRowsOfA>
HWY_INLINE void dot_rows(int rows, const DotTile& t) {
  if constexpr (kA > 0) {
    if (rows == kA)
      dot_products<kA, kB>(t);
    else
      dot_rows<kB, kA - 1>(rows, t);
  }
}

// All rows of A against kB rows of B. Tiles are of nearly equal height.
template <int kB>
void against(std::int64_t m, DotTile t) {
  const std::int64_t tiles = (m + kRowsOfA - 1) / kRowsOfA;
  for (std::int64_t i = 0; i < tiles; ++i) {
    const std::int64_t begin = i * m / tiles, end = (i + 1) * m / tiles;
    DotTile part = t;
    part.a += begin * t.lda;
    part.c += begin * t.ldc;
    dot_rows<kB>(static_cast<int>(end - begin), part);
  }
}

void few_rows(std::int64_t m, std::int64_t n, DotTile t) {
  const auto next = [&t](std::int64_t rows) {
    t.b += rows * t.ldb;
    t.c += rows;
    if (t.bias) t.bias += rows;
  };
  std::int64_t j = 0;
  for (; j + kRowsOfB <= n; j += kRowsOfB, next(kRowsOfB)) against<kRowsOfB>(m, t);
  for (; j < n; ++j, next(1)) against<1>(m, t);
}

void few_rows_gemm_part(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                        std::int64_t lda, const float* b, std::int64_t ldb, const float* bias,
                        float* c, std::int64_t ldc) {
  few_rows(m, n, {a, lda, b, ldb, k, bias, c, ldc});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moil {

HWY_EXPORT(few_rows_gemm_part);

void few_rows_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
                   const float* b, std::int64_t ldb, const float* bias, float* c,
                   std::int64_t ldc) {
  constexpr std::int64_t kUnit = 12;  // whole tiles, whatever their size
  const auto part_gemm = HWY_DYNAMIC_DISPATCH(few_rows_gemm_part);
  parallel_gemm_parts(n, m * k, kUnit, [&](Range r) {
    part_gemm(m, r.size(), k, a, lda, b + r.begin * ldb, ldb, bias ? bias + r.begin : nullptr,
              c + r.begin, ldc);
  });
}

}  // namespace moil
#endif  // HWY_ONCE
