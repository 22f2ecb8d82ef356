#include "engine/tensor/placement_orders.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>

namespace moil {
namespace {

using Order = PlacementOrder;

std::int64_t lifetime(const MemoryRequest& r) { return std::int64_t{r.last} - r.first + 1; }

// Indices 0..n-1, those with the smallest key first; among equals the larger, then the earlier.
Order sorted_by(std::span<const MemoryRequest> requests,
                const std::function<double(const MemoryRequest&)>& key) {
  std::vector<double> keys;
  for (const MemoryRequest& r : requests) keys.push_back(key(r));
  Order order(requests.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
    if (keys[i] != keys[j]) return keys[i] < keys[j];
    return requests[i].bytes > requests[j].bytes;
  });
  return order;
}

// The requests of the execution order with most live bytes, largest first, then those of the next.
Order by_breadth(std::span<const MemoryRequest> requests) {
  std::vector<int> starts;  // live bytes peak where something begins
  for (const MemoryRequest& r : requests) starts.push_back(r.first);
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  std::vector<std::size_t> live(starts.size());
  std::vector<std::size_t> from(requests.size()), to(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto index = [&](auto it) { return static_cast<std::size_t>(it - starts.begin()); };
    from[i] = index(std::lower_bound(starts.begin(), starts.end(), requests[i].first));
    to[i] = index(std::upper_bound(starts.begin(), starts.end(), requests[i].last));
    for (std::size_t s = from[i]; s < to[i]; ++s) live[s] += requests[i].bytes;
  }
  // A request belongs to the fullest order it lives at.
  std::vector<double> fullest;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto peak = std::max_element(live.begin() + static_cast<std::ptrdiff_t>(from[i]),
                                       live.begin() + static_cast<std::ptrdiff_t>(to[i]));
    fullest.push_back(-static_cast<double>(*peak));
  }
  return sorted_by(requests,
                   [&, i = std::size_t{0}](const MemoryRequest&) mutable { return fullest[i++]; });
}

}  // namespace

std::vector<Order> known_placement_orders(std::span<const MemoryRequest> requests) {
  const auto bytes = [](const MemoryRequest& r) { return static_cast<double>(r.bytes); };
  const auto length = [](const MemoryRequest& r) { return static_cast<double>(lifetime(r)); };
  return {
      sorted_by(requests, [&](const MemoryRequest& r) { return -length(r); }),
      sorted_by(requests, [&](const MemoryRequest& r) { return -bytes(r); }),
      by_breadth(requests),
      sorted_by(requests, [&](const MemoryRequest& r) { return -length(r) * bytes(r); }),
      sorted_by(requests, [&](const MemoryRequest& r) { return double(r.first); }),
      sorted_by(requests, [&](const MemoryRequest& r) { return -double(r.last); }),
  };
}

}  // namespace moil
