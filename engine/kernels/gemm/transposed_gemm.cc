#include <algorithm>
#include <cstring>

#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/gemm/gemm_parts.h"
#include "engine/kernels/simd/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/gemm/transposed_gemm.cc"
#include "hwy/foreach_target.h"
//
#include "engine/kernels/simd/partial-inl.h"
#include "hwy/highway.h"

// C[k x n] (+)= A^T B, summed over blocks of rows: the block's two vectors of columns of B are
// copied to a strip, padded with zeros, and a register tile of C runs down it.
HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

constexpr std::int64_t kBlockRows = 128;   // a strip of B fits into the first-level cache
constexpr std::int64_t kBlockDepth = 768;  // columns of A at once: their block fits into the second
// If rows are few: C is then written row by row, as far as can be.
constexpr std::int64_t kShortDepth = kTileRows;

struct OuterTile {
  const float* a;
  std::int64_t lda;
  const float* strip;  // [rows][strip_stride], two vectors used
  std::int64_t strip_stride;
  std::int64_t rows;
  float* c;
  std::int64_t ldc;
  std::size_t columns;
  bool accumulate;
};

template <int kRows, int kVectors>
HWY_INLINE void finish_outer(const OuterTile& t, V (&sum)[kRows][kVectors]) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    const std::size_t at = static_cast<std::size_t>(v) * lanes;
    const std::size_t used = std::min(lanes, t.columns - at);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      float* to = t.c + r * t.ldc + static_cast<std::ptrdiff_t>(at);
      V out = sum[r][v];
      if (t.accumulate)
        out = hn::Add(used == lanes ? hn::LoadU(d, to) : load_first(d, to, used), out);
      if (used == lanes)
        hn::StoreU(out, d, to);
      else
        store_first(d, out, to, used);
    }
  }
}

template <int kRows, int kVectors>
HWY_NOINLINE void outer(const OuterTile& t) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  V sum[kRows][kVectors];
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
  }
  const float* a = t.a;
  const float* b = t.strip;
  for (std::int64_t i = 0; i < t.rows; ++i, a += t.lda, b += t.strip_stride) {
    V column[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      column[v] = hn::LoadU(d, b + static_cast<std::size_t>(v) * lanes);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const V x = hn::Set(d, a[r]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(x, column[v], sum[r][v]);
    }
  }
  finish_outer<kRows, kVectors>(t, sum);
}

template <int kVectors, int kRows = kTileRows>
HWY_INLINE void outer_rows(int rows, const OuterTile& t) {
  if constexpr (kRows > 0) {
    if (rows == kRows)
      outer<kRows, kVectors>(t);
    else
      outer_rows<kVectors, kRows - 1>(rows, t);
  }
}

void copy_columns(const float* b, std::int64_t ldb, std::int64_t rows, std::size_t columns,
                  float* strip) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::int64_t i = 0; i < rows; ++i, b += ldb, strip += 2 * lanes) {
    if (columns == 2 * lanes) {
      hn::Store(hn::LoadU(d, b), d, strip);
      hn::Store(hn::LoadU(d, b + lanes), d, strip + lanes);
    } else {
      const std::size_t first = std::min(lanes, columns);
      hn::Store(load_first(d, b, first), d, strip);
      if (columns > lanes) hn::Store(load_first(d, b + lanes, columns - lanes), d, strip + lanes);
    }
  }
}

// The columns [k0, k1) of A against one strip.
void strip_block(OuterTile t, const float* a, float* c, std::int64_t k0, std::int64_t k1) {
  for (std::int64_t k = k0; k < k1;) {
    const std::int64_t left = k1 - k;
    const auto rows = static_cast<int>(left >= 2 * kTileRows ? kTileRows
                                       : left > kTileRows    ? (left + 1) / 2
                                                             : left);
    t.a = a + k;
    t.c = c + k * t.ldc;
    if (t.columns > hn::Lanes(D()))
      outer_rows<2>(rows, t);
    else
      outer_rows<1>(rows, t);
    k += rows;
  }
}

void transposed_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                     std::int64_t lda, const float* b, std::int64_t ldb, bool accumulate, float* c,
                     std::int64_t ldc) {
  const std::int64_t depth = m <= kBlockRows ? kShortDepth : kBlockDepth;
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  HWY_ALIGN float strip[kBlockRows * 2 * kLanes];
  const auto wide = static_cast<std::int64_t>(2 * hn::Lanes(D()));
  for (std::int64_t k0 = 0; k0 < k; k0 += depth) {
    const std::int64_t k1 = std::min(k, k0 + depth);
    for (std::int64_t row = 0; row < m; row += kBlockRows) {
      const std::int64_t rows = std::min(kBlockRows, m - row);
      for (std::int64_t j = 0; j < n; j += wide) {
        const auto columns = static_cast<std::size_t>(std::min(wide, n - j));
        // Few tiles do not repay the copy.
        const bool in_place = columns == 2 * hn::Lanes(D()) && k1 - k0 <= 2 * kTileRows;
        const float* from = b + row * ldb + j;
        if (!in_place) copy_columns(from, ldb, rows, columns, strip);
        strip_block({nullptr, lda, in_place ? from : strip, in_place ? ldb : wide, rows, nullptr,
                     ldc, columns, accumulate || row > 0},
                    a + row * lda, c + j, k0, k1);
      }
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moil {

HWY_EXPORT(transposed_gemm);

void gemm_transposed_a_serial(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                              std::int64_t lda, const float* b, std::int64_t ldb, float* c,
                              std::int64_t ldc) {
  HWY_DYNAMIC_DISPATCH(transposed_gemm)(m, n, k, a, lda, b, ldb, true, c, ldc);
}

void gemm_transposed_a(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                       std::int64_t lda, const float* b, std::int64_t ldb, bool accumulate,
                       float* c, std::int64_t ldc) {
  constexpr std::int64_t kUnit = 12;  // whole tiles, whatever their size
  const auto gemm = HWY_DYNAMIC_DISPATCH(transposed_gemm);
  parallel_gemm_parts(k, m * n, kUnit, [&](Range r) {
    gemm(m, n, r.size(), a + r.begin, lda, b, ldb, accumulate, c + r.begin * ldc, ldc);
  });
}

}  // namespace moil
#endif  // HWY_ONCE
