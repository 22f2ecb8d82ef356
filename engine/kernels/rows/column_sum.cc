#include "engine/kernels/rows/column_sum.h"

#include <algorithm>

#include "engine/kernels/parallel.h"
#include "engine/kernels/simd/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/rows/column_sum.cc"
#include "hwy/foreach_target.h"
//
#include "engine/kernels/simd/simd-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {
namespace {

// sums += the sums of the rows, which lie `stride` apart, block by block.
void add_rows(std::int64_t rows, std::int64_t columns, std::int64_t stride, const float* x,
              float* sums) {
  constexpr std::int64_t kBlock = 64;
  for (std::int64_t r = 0; r < rows; r += kBlock) {
    const std::int64_t count = std::min(kBlock, rows - r);
    for_columns(columns, [&](auto d, std::int64_t c) HWY_ATTR {
      const float* at = x + r * stride + c;
      auto even = hn::Zero(d), odd = hn::Zero(d);
      std::int64_t i = 0;
      for (; i + 2 <= count; i += 2, at += 2 * stride) {
        even = hn::Add(even, hn::LoadU(d, at));
        odd = hn::Add(odd, hn::LoadU(d, at + stride));
      }
      if (i < count) even = hn::Add(even, hn::LoadU(d, at));
      hn::StoreU(hn::Add(hn::LoadU(d, sums + c), hn::Add(even, odd)), d, sums + c);
    });
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moil {
namespace {

HWY_EXPORT(add_rows);

constexpr std::int64_t kElementsAPart = 32 * 1024, kFewestRows = 64;
// Stripes of columns begin with a cache line.
constexpr std::int64_t kStripe = 16;

// How the rows are cut shows in the bits and in the workspace: by the sizes alone, in two at most.
int row_parts(std::int64_t rows, std::int64_t columns) {
  const std::int64_t least = std::max(kFewestRows, kElementsAPart / columns);
  return rows / least >= 2 ? 2 : 1;
}

// Threads beyond two share the columns, which shows in neither.
int stripes_of(std::int64_t rows, std::int64_t columns, int parts) {
  if (parts == 1) return 1;
  const std::int64_t worth = std::min(rows * columns / kElementsAPart / parts, columns / kStripe);
  return static_cast<int>(std::clamp<std::int64_t>(worth, 1, std::max(1, thread_count() / parts)));
}

}  // namespace

std::size_t column_sum_workspace(std::int64_t rows, std::int64_t columns) {
  return static_cast<std::size_t>((row_parts(rows, columns) - 1) * columns) * sizeof(float);
}

void column_sum(std::int64_t rows, std::int64_t columns, const float* x, float* sums,
                bool accumulate, std::byte* workspace) {
  const int parts = row_parts(rows, columns), stripes = stripes_of(rows, columns, parts);
  auto* const second = reinterpret_cast<float*>(workspace);
  parallel_parts(parts * stripes, [&](int i) {
    const int part = i / stripes;
    const Range r = part_of(rows, part, parts), c = part_of(columns, i % stripes, stripes, kStripe);
    float* const to = (part == 0 ? sums : second) + c.begin;
    if (part > 0 || !accumulate) std::fill(to, to + c.size(), 0.0F);
    HWY_DYNAMIC_DISPATCH(add_rows)
    (r.size(), c.size(), columns, x + r.begin * columns + c.begin, to);
  });
  if (parts == 2)
    for (std::int64_t c = 0; c < columns; ++c) sums[c] += second[c];
}

}  // namespace moil
#endif  // HWY_ONCE
