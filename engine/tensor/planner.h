// Memory planners: from lifetimes and sizes to addresses in one pool.
//
// Two requests may share addresses only if their lifetimes do not meet. Planners are pure
// functions of the requests; thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace moil {

// Memory that is needed at every execution order from first to last, both included. Bytes are
// rounded up to kAlignment by the planners.
struct MemoryRequest {
  std::size_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct MemoryPlan {
  std::vector<std::size_t> offsets;  // one a request, in bytes, multiples of kAlignment
  std::size_t total_bytes = 0;       // the pool's size
};

inline constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector
constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

class MemoryPlanner {
 public:
  virtual ~MemoryPlanner() = default;
  virtual std::string_view name() const = 0;
  [[nodiscard]] virtual MemoryPlan plan(std::span<const MemoryRequest> requests) const = 0;
};

// NNTrainer 2022, Algorithm 2, with the check it lacks in print: a slot is reused only if it is
// both free for the whole lifetime and large enough. The reference.
std::unique_ptr<MemoryPlanner> make_sorting_planner();

// Places by offset: largest first, each at the lowest gap of best fit between the requests whose
// lifetimes meet its own; several orders of placement are tried and the smallest plan kept.
std::unique_ptr<MemoryPlanner> make_best_fit_planner();

// The smaller of the two.
[[nodiscard]] MemoryPlan plan_memory(std::span<const MemoryRequest> requests);

// The same with the requests for which `filler` holds placed last, into gaps between the others:
// for workspaces, whose size may be chosen to fit a gap. What the others take does not depend on
// them.
[[nodiscard]] MemoryPlan plan_memory_with_fillers(std::span<const MemoryRequest> requests,
                                                  const std::vector<bool>& filler);

// Throws kInvalidArgument, naming the request, if one ends before it begins or if all
// together exceed the address space.
void check_requests(std::span<const MemoryRequest> requests);

// The largest sum of live (aligned) bytes at any order: no plan can be smaller.
[[nodiscard]] std::size_t lower_bound_bytes(std::span<const MemoryRequest> requests);

}  // namespace moil
