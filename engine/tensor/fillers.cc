// Placing what comes last: into the gaps that a plan leaves.
#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/tensor/planner.h"

namespace moil {
namespace {

using Interval = std::pair<std::size_t, std::size_t>;  // [begin, end)

bool meet(const MemoryRequest& a, const MemoryRequest& b) {
  return a.first <= b.last && b.first <= a.last;
}

// Where the requests of `which` lie that meet `request`, sorted.
std::vector<Interval> taken(std::span<const MemoryRequest> requests,
                            std::span<const std::size_t> offsets, const std::vector<bool>& which,
                            const MemoryRequest& request) {
  std::vector<Interval> intervals;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (which[i] && requests[i].bytes > 0 && meet(requests[i], request))
      intervals.emplace_back(offsets[i], offsets[i] + aligned(requests[i].bytes));
  }
  std::sort(intervals.begin(), intervals.end());
  return intervals;
}

// The smallest gap that holds the bytes; behind everything if no gap does.
std::size_t best_gap(const std::vector<Interval>& intervals, std::size_t bytes) {
  std::size_t low = 0, best = 0, best_size = 0;
  for (const auto& [begin, end] : intervals) {
    if (begin > low && begin - low >= bytes && (best_size == 0 || begin - low < best_size))
      best = low, best_size = begin - low;
    low = std::max(low, end);
  }
  return best_size == 0 ? low : best;
}

}  // namespace

MemoryPlan plan_memory_with_fillers(std::span<const MemoryRequest> requests,
                                    const std::vector<bool>& filler) {
  std::vector<MemoryRequest> others;
  std::vector<bool> placed(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    placed[i] = !filler[i];
    if (!filler[i]) others.push_back(requests[i]);
  }
  const MemoryPlan base = plan_memory(others);
  MemoryPlan plan{std::vector<std::size_t>(requests.size()), base.total_bytes};
  for (std::size_t i = 0, next = 0; i < requests.size(); ++i) {
    if (!filler[i]) plan.offsets[i] = base.offsets[next++];
  }
  std::vector<std::size_t> order(requests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return requests[a].bytes > requests[b].bytes;
  });
  for (const std::size_t i : order) {
    if (!filler[i] || requests[i].bytes == 0) continue;
    const std::size_t bytes = aligned(requests[i].bytes);
    plan.offsets[i] = best_gap(taken(requests, plan.offsets, placed, requests[i]), bytes);
    plan.total_bytes = std::max(plan.total_bytes, plan.offsets[i] + bytes);
    placed[i] = true;
  }
  return plan;
}

std::size_t largest_gap(std::span<const MemoryRequest> requests, const std::vector<bool>& filler,
                        std::span<const std::size_t> offsets, int first, int last,
                        std::size_t limit) {
  std::vector<bool> others(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) others[i] = !filler[i];
  std::size_t low = 0, largest = 0;
  for (const auto& [begin, end] : taken(requests, offsets, others, {0, first, last})) {
    if (begin > low) largest = std::max(largest, begin - low);
    low = std::max(low, end);
  }
  return std::max(largest, limit > low ? limit - low : 0);
}

}  // namespace moil
