// Placing what comes last: into the gaps that a plan leaves.
#include <algorithm>
#include <numeric>

#include "engine/tensor/gaps.h"

namespace moil {

MemoryPlan plan_memory_with_fillers(std::span<const MemoryRequest> requests,
                                    const std::vector<bool>& filler) {
  std::vector<MemoryRequest> others;
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (!filler[i]) others.push_back(requests[i]);
  const MemoryPlan base = plan_memory(others);
  MemoryPlan plan{std::vector<std::size_t>(requests.size()), base.total_bytes};
  for (std::size_t i = 0, next = 0; i < requests.size(); ++i) {
    if (!filler[i]) plan.offsets[i] = base.offsets[next++];
  }
  std::vector<bool> placed = filler;
  placed.flip();
  Gaps gaps(requests, placed, plan.offsets);
  std::vector<std::size_t> order(requests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return requests[a].bytes > requests[b].bytes;
  });
  for (const std::size_t i : order) {
    if (!filler[i] || requests[i].bytes == 0) continue;
    plan.offsets[i] = gaps.best(requests[i]);
    plan.total_bytes = std::max(plan.total_bytes, plan.offsets[i] + aligned(requests[i].bytes));
    gaps.add(requests[i], plan.offsets[i]);
  }
  return plan;
}

}  // namespace moil
