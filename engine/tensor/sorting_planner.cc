// NNTrainer 2022, Algorithm 2: requests in the order in which they are first needed, each taking
// the slot of the latest request that has ended, or a new slot at the end of the pool.
//
// In print the search compares with an earlier *request*, and asks neither whether its slot was
// taken over meanwhile nor whether it is large enough. Here it walks the slots, latest user first,
// and asks both. A slot keeps the size of its first user, so larger requests leave it unused.
#include <algorithm>
#include <list>
#include <numeric>

#include "engine/tensor/planner.h"

namespace moil {
namespace {

struct Slot {
  std::size_t offset, bytes;
  int busy_until;  // the last order of its latest user
};

std::vector<std::size_t> by_first_order(std::span<const MemoryRequest> requests) {
  std::vector<std::size_t> order(requests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (requests[a].first != requests[b].first) return requests[a].first < requests[b].first;
    return requests[a].last > requests[b].last;
  });
  return order;
}

class SortingPlanner : public MemoryPlanner {
 public:
  std::string_view name() const override { return "sorting"; }

  MemoryPlan plan(std::span<const MemoryRequest> requests) const override {
    check_requests(requests);
    MemoryPlan plan{std::vector<std::size_t>(requests.size()), 0};
    std::list<Slot> slots;  // latest user first
    for (const std::size_t i : by_first_order(requests)) {
      const std::size_t bytes = aligned(requests[i].bytes);
      if (bytes == 0) continue;
      auto slot = std::find_if(slots.begin(), slots.end(), [&](const Slot& s) {
        return s.busy_until < requests[i].first && s.bytes >= bytes;
      });
      if (slot == slots.end()) {
        slots.push_front({plan.total_bytes, bytes, 0});
        plan.total_bytes += bytes;
      } else {
        slots.splice(slots.begin(), slots, slot);
      }
      slots.front().busy_until = requests[i].last;
      plan.offsets[i] = slots.front().offset;
    }
    return plan;
  }
};

}  // namespace

std::unique_ptr<MemoryPlanner> make_sorting_planner() { return std::make_unique<SortingPlanner>(); }

}  // namespace moil
