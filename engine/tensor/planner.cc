#include "engine/tensor/planner.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"

namespace moil {

void check_requests(std::span<const MemoryRequest> requests) {
  // Half of the address space: sums of aligned sizes cannot overflow below it.
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / 2;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const MemoryRequest& r = requests[i];
    if (r.first > r.last) {
      throw Error(ErrorCode::kInvalidArgument, "memory request " + std::to_string(i) +
                                                   " lives from order " + std::to_string(r.first) +
                                                   " to " + std::to_string(r.last) +
                                                   ": expected first <= last");
    }
    if (r.bytes > kMost - kAlignment || aligned(r.bytes) > kMost - sum) {
      throw Error(ErrorCode::kInvalidArgument,
                  "memory request " + std::to_string(i) + " of " + std::to_string(r.bytes) +
                      " bytes: all requests together exceed the address space");
    }
    sum += aligned(r.bytes);
  }
}

MemoryPlan plan_memory(std::span<const MemoryRequest> requests) {
  MemoryPlan best_fit = make_best_fit_planner()->plan(requests);
  MemoryPlan sorting = make_sorting_planner()->plan(requests);
  return best_fit.total_bytes <= sorting.total_bytes ? best_fit : sorting;
}

std::size_t lower_bound_bytes(std::span<const MemoryRequest> requests) {
  check_requests(requests);
  // What begins or ends at an order. An end sorts before a beginning at the same order, and counts
  // from the order after the last.
  std::vector<std::tuple<std::int64_t, bool, std::size_t>> events;
  events.reserve(2 * requests.size());
  for (const MemoryRequest& r : requests) {
    events.emplace_back(r.first, true, aligned(r.bytes));
    events.emplace_back(std::int64_t{r.last} + 1, false, aligned(r.bytes));
  }
  std::sort(events.begin(), events.end());
  std::size_t live = 0, most = 0;
  for (const auto& [order, begins, bytes] : events) {
    live = begins ? live + bytes : live - bytes;
    most = std::max(most, live);
  }
  return most;
}

}  // namespace moil
