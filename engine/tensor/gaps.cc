#include "engine/tensor/gaps.h"

#include <algorithm>

namespace moil {

Gaps::Gaps(std::span<const MemoryRequest> requests, const std::vector<bool>& which,
           std::span<const std::size_t> offsets) {
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (which[i] && requests[i].bytes > 0)
      placed_.push_back({offsets[i], offsets[i] + aligned(requests[i].bytes), requests[i].first,
                         requests[i].last});
  std::sort(placed_.begin(), placed_.end(),
            [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
}

void Gaps::add(const MemoryRequest& request, std::size_t offset) {
  const auto after =
      std::upper_bound(placed_.begin(), placed_.end(), offset,
                       [](std::size_t at, const Placed& placed) { return at < placed.begin; });
  placed_.insert(after, {offset, offset + aligned(request.bytes), request.first, request.last});
}

template <class See>
std::size_t Gaps::each(int first, int last, const See& see) const {
  std::size_t low = 0;
  for (const Placed& placed : placed_) {
    if (placed.last < first || last < placed.first) continue;
    if (placed.begin > low) see(low, placed.begin);
    low = std::max(low, placed.end);
  }
  return low;
}

std::size_t Gaps::best(const MemoryRequest& request) const {
  const std::size_t bytes = aligned(request.bytes);
  std::size_t best = 0, best_size = 0;
  const std::size_t end = each(request.first, request.last, [&](std::size_t low, std::size_t high) {
    if (high - low < bytes || (best_size != 0 && high - low >= best_size)) return;
    best = low;
    best_size = high - low;
  });
  return best_size == 0 ? end : best;
}

std::size_t Gaps::largest(int order, std::size_t limit) const {
  std::size_t largest = 0;
  const std::size_t end = each(order, order, [&](std::size_t low, std::size_t high) {
    largest = std::max(largest, high - low);
  });
  return std::max(largest, limit > end ? limit - end : 0);
}

}  // namespace moil
