#include "engine/tensor/placement.h"

#include <algorithm>
#include <limits>

namespace moil {

Placer::Placer(std::span<const MemoryRequest> requests)
    : requests_(requests), offsets_(requests.size()) {
  placed_.reserve(requests.size());
}

std::optional<std::size_t> Placer::place(std::span<const int> order, Fit fit, std::size_t limit) {
  placed_.clear();
  std::size_t total = 0;
  for (const int index : order) {
    const MemoryRequest& request = requests_[static_cast<std::size_t>(index)];
    const std::size_t offset = find_gap(request, fit);
    total = std::max(total, offset + request.bytes);
    if (total > limit) return std::nullopt;
    offsets_[static_cast<std::size_t>(index)] = offset;
    insert(request, offset);
  }
  return total;
}

std::size_t Placer::find_gap(const MemoryRequest& request, Fit fit) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::size_t low = 0;  // the end of everything met so far
  std::size_t best = kNone, best_gap = kNone;
  for (const Placed& other : placed_) {
    ++effort_;
    if (other.last < request.first || request.last < other.first) continue;
    if (other.begin > low && other.begin - low >= request.bytes && other.begin - low < best_gap) {
      best = low;
      best_gap = other.begin - low;
      if (fit == Fit::kLowest || best_gap == request.bytes) break;
    }
    low = std::max(low, other.end);
  }
  return best == kNone ? low : best;
}

void Placer::insert(const MemoryRequest& request, std::size_t offset) {
  const auto after = std::upper_bound(
      placed_.begin(), placed_.end(), offset,
      [](std::size_t value, const Placed& placed) { return value < placed.begin; });
  placed_.insert(after, {offset, offset + request.bytes, request.first, request.last});
}

}  // namespace moil
