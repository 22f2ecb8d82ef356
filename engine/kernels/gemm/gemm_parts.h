// How products of matrices are cut over threads. See parallel.h.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/kernels/parallel.h"

namespace moil {

// Below this many multiply-adds a part, a thread costs more than it brings.
inline constexpr std::int64_t kGemmGrain = 64 * 1024;

// Calls fn(range) for the parts of [0, count), rows or columns of `work` multiply-adds each. Cut at
// multiples of `unit`, where the kernel's own tiles end.
template <class Fn>
void parallel_gemm_parts(std::int64_t count, std::int64_t work, std::int64_t unit, const Fn& fn) {
  const int parts = part_count(count, std::max(unit, kGemmGrain / std::max<std::int64_t>(1, work)));
  parallel_parts(parts, [&](int part) {
    const Range r = part_of(count, part, parts, unit);
    if (r.size() > 0) fn(r);
  });
}

}  // namespace moil
