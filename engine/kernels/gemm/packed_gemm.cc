#include <algorithm>
#include <cstring>
#include <limits>

#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/gemm/gemm_parts.h"
#include "engine/kernels/simd/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/gemm/packed_gemm.cc"
#include "hwy/foreach_target.h"
//
#include "engine/kernels/simd/clamp-inl.h"
#include "engine/kernels/simd/partial-inl.h"
#include "hwy/highway.h"

// B is packed in panels of two vectors of columns (the last may have one): [panel][k][columns].
// A register tile of kTileRows rows runs down a panel; its rows of A are read where they lie or
// from a copy, and stay in the first-level cache while panels stream from the second. Long k is cut
// into blocks between which partial sums rest in C: the chain of multiply-adds of an element is the
// same as without.
#ifndef MOIL_ENGINE_KERNELS_PACKED_GEMM_BLOCK_
#define MOIL_ENGINE_KERNELS_PACKED_GEMM_BLOCK_
namespace moil {
namespace {

struct GemmBlock {
  Range rows, panels;
  std::int64_t n, k;
  const float* a;
  std::int64_t lda;
  const float* packed;
  float* c;
  std::int64_t ldc;
  GemmEpilogue epilogue;
};

constexpr std::int64_t kMaxDepth = 256;  // of a block of k
// A strip's stride: no power of two, so its rows do not meet in one set of the cache.
constexpr std::int64_t kStripStride = kMaxDepth + 16;
constexpr std::int64_t kPanelsAtOnce = 16;

}  // namespace
}  // namespace moil
#endif

HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

int panel_columns() { return 2 * static_cast<int>(hn::Lanes(D())); }

// One register tile: where it stands, and whether its chain begins or ends here.
struct Tile {
  const float* a;  // [rows][stride]
  std::int64_t stride;
  const float* panel;  // [depth][columns]
  std::int64_t depth;
  float* c;
  std::int64_t ldc;
  const float* bias;    // of its first column, or null
  std::size_t columns;  // in use
  bool begins, ends, clamps;
  float low, high;
};

HWY_INLINE V epilogue(const Tile& t, V v, V bias) {
  const D d;
  v = hn::Add(v, bias);
  return t.clamps ? at_most(at_least(v, hn::Set(d, t.low)), hn::Set(d, t.high)) : v;
}

template <int kRows, int kVectors>
HWY_INLINE void finish(const Tile& t, V (&sum)[kRows][kVectors]) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    const std::size_t used = std::min(lanes, t.columns - static_cast<std::size_t>(v) * lanes);
    const auto at = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(v) * lanes);
    const V bias = t.ends && t.bias ? load_first(d, t.bias + at, used) : hn::Zero(d);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      float* to = t.c + r * t.ldc + at;
      const V out = t.ends ? epilogue(t, sum[r][v], bias) : sum[r][v];
      if (used == lanes)
        hn::StoreU(out, d, to);
      else
        store_first(d, out, to, used);
    }
  }
}

template <int kRows, int kVectors>
HWY_NOINLINE void multiply(const Tile& t) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  V sum[kRows][kVectors];
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      const auto at = static_cast<std::size_t>(v) * lanes;
      sum[r][v] = t.begins ? hn::Zero(d)
                           : load_first(d, t.c + r * t.ldc + static_cast<std::ptrdiff_t>(at),
                                        std::min(lanes, t.columns - at));
    }
  }
  const float* row[kRows];
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) row[r] = t.a + r * t.stride;
  const float* b = t.panel;
  for (std::int64_t k = 0; k < t.depth; ++k, b += static_cast<std::size_t>(kVectors) * lanes) {
    V column[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      column[v] = hn::Load(d, b + static_cast<std::size_t>(v) * lanes);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const V x = hn::Set(d, row[r][k]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(x, column[v], sum[r][v]);
    }
  }
  finish<kRows, kVectors>(t, sum);
}

template <int kVectors, int kRows = kTileRows>
HWY_INLINE void multiply_rows(int rows, const Tile& t) {
  if constexpr (kRows > 0) {
    if (rows == kRows)
      multiply<kRows, kVectors>(t);
    else
      multiply_rows<kVectors, kRows - 1>(rows, t);
  }
}

HWY_INLINE void copy_strip(const float* a, std::int64_t lda, int rows, std::int64_t depth,
                           float* strip) {
  const D d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (int r = 0; r < rows; ++r) {
    const float* from = a + r * lda;
    float* to = strip + r * kStripStride;
    std::int64_t k = 0;
    for (; k + lanes <= depth; k += lanes) hn::Store(hn::LoadU(d, from + k), d, to + k);
    if (k < depth)
      hn::Store(load_first(d, from + k, static_cast<std::size_t>(depth - k)), d, to + k);
  }
}

// Rows [row, row + rows) times the panels, for k in [k0, k0 + depth).
void multiply_strip(const GemmBlock& b, Range panels, std::int64_t row, int rows, std::int64_t k0,
                    std::int64_t depth, const float* strip, std::int64_t stride) {
  const std::int64_t lanes = panel_columns() / 2, wide = 2 * lanes;
  Tile t{};
  t.a = strip;
  t.stride = stride;
  t.depth = depth;
  t.ldc = b.ldc;
  t.begins = k0 == 0;
  t.ends = k0 + depth == b.k;
  t.clamps = b.epilogue.activation != FusedActivation::kNone;
  t.low = 0.0F;
  t.high = b.epilogue.activation == FusedActivation::kRelu6
               ? 6.0F
               : std::numeric_limits<float>::infinity();
  for (std::int64_t p = panels.begin; p < panels.end; ++p) {
    const std::int64_t column = p * wide, columns = std::min(wide, b.n - column);
    const std::int64_t width = columns <= lanes ? lanes : wide;
    t.panel = b.packed + column * b.k + k0 * width;
    t.c = b.c + row * b.ldc + column;
    t.bias = b.epilogue.bias ? b.epilogue.bias + column : nullptr;
    t.columns = static_cast<std::size_t>(columns);
    if (width == wide)
      multiply_rows<2>(rows, t);
    else
      multiply_rows<1>(rows, t);
  }
}

// Rows of the next tile: full, but the last two share what is left.
HWY_INLINE int tile_rows(std::int64_t left) {
  if (left <= kTileRows) return static_cast<int>(left);
  if (left >= 2 * kTileRows) return kTileRows;
  return static_cast<int>((left + 1) / 2);
}

// Short rows, and rows that several panels read, are best read where they lie, unless their stride
// puts them into few sets of the cache.
HWY_INLINE bool wants_copy(const GemmBlock& b) {
  return b.k >= 64 && (b.panels.size() == 1 || b.lda % 256 == 0);
}

void gemm_block(const GemmBlock& b) {
  HWY_ALIGN float strip[kTileRows * kStripStride];
  const bool copies = wants_copy(b);
  const std::int64_t blocks = (b.k + kMaxDepth - 1) / kMaxDepth;
  // Strips are copied by whole vectors: depths are multiples of 16 but for the last.
  const std::int64_t depth = ((b.k + blocks - 1) / blocks + 15) / 16 * 16;
  for (std::int64_t p = b.panels.begin; p < b.panels.end; p += kPanelsAtOnce) {
    const Range panels{p, std::min(b.panels.end, p + kPanelsAtOnce)};
    for (std::int64_t k = 0; k < b.k; k += depth) {
      const std::int64_t here = std::min(depth, b.k - k);
      for (std::int64_t row = b.rows.begin; row < b.rows.end;) {
        const int rows = tile_rows(b.rows.end - row);
        const float* a = b.a + row * b.lda + k;
        if (copies) copy_strip(a, b.lda, rows, here, strip);
        multiply_strip(b, panels, row, rows, k, here, copies ? strip : a,
                       copies ? kStripStride : b.lda);
        row += rows;
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
namespace {

HWY_EXPORT(panel_columns);
HWY_EXPORT(gemm_block);

std::int64_t wide_panel() { return HWY_DYNAMIC_DISPATCH(panel_columns)(); }

std::int64_t packed_columns(std::int64_t n) {
  const std::int64_t lanes = wide_panel() / 2;
  return (n + lanes - 1) / lanes * lanes;
}

// One panel: columns [0, columns) of op(B), zeros up to width.
void pack_panel(Transpose transposed, std::int64_t k, std::int64_t columns, std::int64_t width,
                const float* b, std::int64_t ldb, float* to) {
  if (transposed == Transpose::kNo) {
    for (std::int64_t i = 0; i < k; ++i, to += width) {
      std::memcpy(to, b + i * ldb, static_cast<std::size_t>(columns) * sizeof(float));
      std::fill(to + columns, to + width, 0.0F);
    }
    return;
  }
  constexpr std::int64_t kBlock = 16;  // of k: a cache line of b at a time
  for (std::int64_t k0 = 0; k0 < k; k0 += kBlock) {
    const std::int64_t k1 = std::min(k, k0 + kBlock);
    for (std::int64_t j = 0; j < width; ++j) {
      for (std::int64_t i = k0; i < k1; ++i)
        to[i * width + j] = j < columns ? b[j * ldb + i] : 0.0F;
    }
  }
}

}  // namespace

std::size_t packed_b_bytes(std::int64_t k, std::int64_t n) {
  return static_cast<std::size_t>(k * packed_columns(n)) * sizeof(float);
}

void pack_b_rows(Transpose transposed, std::int64_t k, std::int64_t n, std::int64_t row,
                 std::int64_t rows, const float* b, std::int64_t ldb, std::byte* packed) {
  const std::int64_t wide = wide_panel(), panels = (n + wide - 1) / wide;
  auto* to = reinterpret_cast<float*>(packed);
  const std::int64_t grain = std::max<std::int64_t>(1, 16 * 1024 / (rows * wide));
  parallel_for(panels, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t column = p * wide, columns = std::min(wide, n - column);
      const std::int64_t width = packed_columns(columns);
      pack_panel(transposed, rows, columns, width,
                 b + (transposed == Transpose::kNo ? column : column * ldb), ldb,
                 to + column * k + row * width);
    }
  });
}

void pack_b(Transpose transposed, std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb,
            std::byte* packed) {
  pack_b_rows(transposed, k, n, 0, k, b, ldb, packed);
}

void packed_gemm_serial(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                        std::int64_t lda, const std::byte* packed, float* c, std::int64_t ldc,
                        const GemmEpilogue& epilogue) {
  const std::int64_t panels = (n + wide_panel() - 1) / wide_panel();
  const auto* b = reinterpret_cast<const float*>(packed);
  HWY_DYNAMIC_DISPATCH(gemm_block)
  (GemmBlock{{0, m}, {0, panels}, n, k, a, lda, b, c, ldc, epilogue});
}

void packed_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
                 const std::byte* packed, float* c, std::int64_t ldc,
                 const GemmEpilogue& epilogue) {
  const std::int64_t panels = (n + wide_panel() - 1) / wide_panel();
  const auto* b = reinterpret_cast<const float*>(packed);
  GemmBlock block{{0, m}, {0, panels}, n, k, a, lda, b, c, ldc, epilogue};
  const auto gemm = HWY_DYNAMIC_DISPATCH(gemm_block);
  constexpr std::int64_t kFewRows = 48;
  if (m >= kFewRows * thread_count() || panels < 2) {
    const std::int64_t grain =
        std::max(kFewRows / 2, kGemmGrain / std::max<std::int64_t>(1, n * k));
    parallel_for(m, grain, [&](std::int64_t begin, std::int64_t end) {
      GemmBlock part = block;
      part.rows = {begin, end};
      gemm(part);
    });
  } else {
    const std::int64_t work = std::max<std::int64_t>(1, m * k * wide_panel());
    parallel_for(panels, std::max<std::int64_t>(1, kGemmGrain / work),
                 [&](std::int64_t begin, std::int64_t end) {
                   GemmBlock part = block;
                   part.panels = {begin, end};
                   gemm(part);
                 });
  }
}

}  // namespace moil
#endif  // HWY_ONCE
