#include "engine/kernels/rows/column_sum.h"

#include <algorithm>
#include <cstring>

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

// sums += the sums of the rows, block by block.
void add_rows(std::int64_t rows, std::int64_t columns, const float* x, float* sums) {
  constexpr std::int64_t kBlock = 64;
  for (std::int64_t r = 0; r < rows; r += kBlock) {
    const std::int64_t count = std::min(kBlock, rows - r);
    for_columns(columns, [&](auto d, std::int64_t c) HWY_ATTR {
      const float* at = x + r * columns + c;
      auto even = hn::Zero(d), odd = hn::Zero(d);
      std::int64_t i = 0;
      for (; i + 2 <= count; i += 2, at += 2 * columns) {
        even = hn::Add(even, hn::LoadU(d, at));
        odd = hn::Add(odd, hn::LoadU(d, at + columns));
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

int parts_of(std::int64_t rows, std::int64_t columns) {
  return part_count(rows, std::max<std::int64_t>(64, 32 * 1024 / columns));
}

}  // namespace

std::size_t column_sum_workspace(std::int64_t rows, std::int64_t columns) {
  return static_cast<std::size_t>((parts_of(rows, columns) - 1) * columns) * sizeof(float);
}

void column_sum(std::int64_t rows, std::int64_t columns, const float* x, float* sums,
                bool accumulate, std::byte* workspace) {
  const int parts = parts_of(rows, columns);
  const auto bytes = static_cast<std::size_t>(columns) * sizeof(float);
  auto* partials = reinterpret_cast<float*>(workspace);
  if (!accumulate) std::memset(sums, 0, bytes);
  parallel_parts(parts, [&](int part) {
    const Range r = part_of(rows, part, parts);
    float* to = part == 0 ? sums : partials + (part - 1) * columns;
    if (part > 0) std::memset(to, 0, bytes);
    HWY_DYNAMIC_DISPATCH(add_rows)(r.size(), columns, x + r.begin * columns, to);
  });
  for (int part = 1; part < parts; ++part)
    for (std::int64_t c = 0; c < columns; ++c) sums[c] += partials[(part - 1) * columns + c];
}

}  // namespace moil
#endif  // HWY_ONCE
