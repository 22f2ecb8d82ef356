// Offsets by placement: several orders that are known to do well, then a search among orders.
//
// Requests that meet every other one (weights, optimizer state) lie at the bottom: they cost the
// same anywhere. The others are placed in each of the known orders, and whatever came out smallest
// is then improved: the request that reaches the top of the pool is placed earlier,
// and the change stays if the pool does not grow. The effort is bounded by count, not by time,
// and the random numbers have a fixed seed, so that equal requests give equal plans.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.h"
#include "engine/tensor/placement.h"
#include "engine/tensor/placement_orders.h"
#include "engine/tensor/planner.h"

namespace moil {
namespace {

using Order = PlacementOrder;

// An order of placement and what came of it.
struct FitCandidate {
  Order order;
  Fit fit = Fit::kLowest;
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> offsets;
};

class OrderSearch {
 public:
  explicit OrderSearch(std::span<const MemoryRequest> requests)
      : requests_(requests), placer_(requests), bound_(lower_bound_bytes(requests)) {}

  std::vector<std::size_t> run() {
    std::vector<FitCandidate> starts;
    for (const Order& order : known_placement_orders(requests_)) {
      for (const Fit fit : {Fit::kLowest, Fit::kBest}) {
        FitCandidate start;
        (void)try_order(start, order, fit);
        if (start.bytes == bound_) return start.offsets;
        starts.push_back(std::move(start));
      }
    }
    return improve(starts).offsets;
  }

 private:
  // About 20 ms for 500 requests and 200 ms for 3,000.
  std::size_t effort_limit() const { return 40'000 * requests_.size(); }
  static constexpr int kPatience = 200;  // changes in vain before another start gets its turn

  // Replaces the candidate unless the pool would grow; whether it shrank.
  bool try_order(FitCandidate& candidate, const Order& order, Fit fit) {
    const auto bytes = placer_.place(order, fit, candidate.bytes);
    if (!bytes) return false;
    const bool shrank = *bytes < candidate.bytes;
    candidate = {order, fit, *bytes, placer_.offsets()};
    return shrank;
  }

  // Works on the smallest start until it stays the same, then on the next, and round again.
  FitCandidate improve(std::vector<FitCandidate>& starts) {
    const auto smaller = [](const FitCandidate& a, const FitCandidate& b) {
      return a.bytes < b.bytes;
    };
    std::stable_sort(starts.begin(), starts.end(), smaller);
    const std::size_t limit = placer_.effort() + effort_limit();
    for (std::size_t turn = 0; placer_.effort() < limit; ++turn) {
      FitCandidate& candidate = starts[turn % starts.size()];
      for (int in_vain = 0; in_vain < kPatience && placer_.effort() < limit; ++in_vain) {
        Order order = candidate.order;
        promote_top(candidate, order);
        if (try_order(candidate, order, candidate.fit)) in_vain = 0;
        if (candidate.bytes == bound_) return candidate;
      }
    }
    return *std::min_element(starts.begin(), starts.end(), smaller);
  }

  // Moves a request that reaches the top before one that it meets and that was placed earlier.
  // There is one, or the request would lie at the bottom and be the lower bound by itself.
  void promote_top(const FitCandidate& candidate, Order& order) {
    std::size_t top = 0;
    while (end_of(candidate, order[top]) != candidate.bytes) ++top;
    const MemoryRequest& request = requests_[static_cast<std::size_t>(order[top])];
    earlier_.clear();
    for (std::size_t at = 0; at < top; ++at) {
      const MemoryRequest& other = requests_[static_cast<std::size_t>(order[at])];
      if (other.first <= request.last && request.first <= other.last) earlier_.push_back(at);
    }
    const auto to = static_cast<std::ptrdiff_t>(earlier_[splitmix64(state_) % earlier_.size()]);
    const auto from = static_cast<std::ptrdiff_t>(top);
    std::rotate(order.begin() + to, order.begin() + from, order.begin() + from + 1);
  }

  std::size_t end_of(const FitCandidate& candidate, int request) const {
    const auto i = static_cast<std::size_t>(request);
    return candidate.offsets[i] + requests_[i].bytes;
  }

  std::span<const MemoryRequest> requests_;
  Placer placer_;
  std::size_t bound_;
  std::vector<std::size_t> earlier_;  // positions in an order
  std::uint64_t state_ = 1;
};

class BestFitPlanner : public MemoryPlanner {
 public:
  std::string_view name() const override { return "best_fit"; }

  MemoryPlan plan(std::span<const MemoryRequest> requests) const override {
    check_requests(requests);
    MemoryPlan plan{std::vector<std::size_t>(requests.size()), 0};
    int first_end = std::numeric_limits<int>::max(), last_start = std::numeric_limits<int>::min();
    for (const MemoryRequest& r : requests) {
      if (r.bytes == 0) continue;
      first_end = std::min(first_end, r.last);
      last_start = std::max(last_start, r.first);
    }
    std::vector<MemoryRequest> others;
    std::vector<std::size_t> index;  // of others in requests
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const MemoryRequest& r = requests[i];
      if (r.bytes == 0) continue;
      if (r.first <= first_end && r.last >= last_start) {
        plan.offsets[i] = plan.total_bytes;
        plan.total_bytes += aligned(r.bytes);
      } else {
        others.push_back({aligned(r.bytes), r.first, r.last});
        index.push_back(i);
      }
    }
    place_others(others, index, plan);
    return plan;
  }

 private:
  static void place_others(std::span<const MemoryRequest> others,
                           std::span<const std::size_t> index, MemoryPlan& plan) {
    if (others.empty()) return;
    OrderSearch search(others);
    const std::vector<std::size_t> offsets = search.run();
    const std::size_t base = plan.total_bytes;
    for (std::size_t i = 0; i < others.size(); ++i) {
      plan.offsets[index[i]] = base + offsets[i];
      plan.total_bytes = std::max(plan.total_bytes, base + offsets[i] + others[i].bytes);
    }
  }
};

}  // namespace

std::unique_ptr<MemoryPlanner> make_best_fit_planner() {
  return std::make_unique<BestFitPlanner>();
}

}  // namespace moil
