// When each tensor is in memory (NNTrainer 2024 §4.3): all its life, or, with swap, in several
// stays between which it lies in a swap file.
//
// Always-living tensors (weights, optimizer states) are swapped as a whole: one that leaves memory
// within an iteration also leaves it between iterations, so that where it rests is one place.
// Small tensors stay: a transfer costs more than they take.
// Pure functions of their arguments; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "engine/tensor/tensor_pool.h"

namespace moil {

enum class SwapMode : std::uint8_t {
  kOff,
  kOnDemand,   // in for a step, out after it: the smallest memory
  kReduced,    // as on demand, but what the next order uses again stays
  kProactive,  // in ahead of the step that needs it, out behind the one that used it last
};
const char* to_string(SwapMode mode);
// Throws kInvalidArgument for an unknown name, with the known ones.
[[nodiscard]] SwapMode swap_mode(std::string_view name);

// What a machine was measured to take; part of what is recorded of a run.
struct SwapTimes {
  std::vector<double> order_seconds;  // by execution order, transfers not counted
  double read_bytes_per_second = 0, write_bytes_per_second = 0;
};

struct SwapOptions {
  SwapMode mode = SwapMode::kOff;
  // How many orders ahead a proactive load begins, by stream; if times are known the lookahead
  // is chosen for each load instead.
  int weight_lookahead = 1, tensor_lookahead = 1;
  // Proactive: swap only what brings live bytes down to this, at the fewest bytes moved. 0: all
  // that the lookahead lets out.
  std::size_t budget_bytes = 0;
  std::size_t smallest_bytes = 64 * 1024;  // that a tensor must have to be swapped
  SwapTimes times;
};

inline constexpr std::size_t kSwapAlignment = 4096;  // direct I/O: of memory, file and size
constexpr std::size_t swap_aligned(std::size_t bytes) {
  return (bytes + kSwapAlignment - 1) / kSwapAlignment * kSwapAlignment;
}

// What swap needs to know of a program that runs again and again. A step of several micro-batches
// makes several passes over it, and only the last of them runs all of it.
struct Iteration {
  int last_order = 0;
  std::vector<bool> once =
      {};          // by order: whether it runs in a step's last pass alone; empty: none
  int passes = 1;  // a step makes

  bool is_once(int order) const { return !once.empty() && once[static_cast<std::size_t>(order)]; }
};

// One stay in memory. A tensor that is never swapped has one.
struct Stay {
  TensorId owner = kNoTensor;
  int first = 0, last = 0;  // orders of its first and last use
  // Orders at which it holds memory: loading begins at `from`, storing has ended after `until`.
  int from = 0, until = 0;
  bool loads = false, stores = false;
  // The same in a step's earlier passes: of a tensor that they leave alone neither.
  bool loads_early = false, stores_early = false;
  bool swapped() const { return loads || stores; }
};

// Stays of all owners of the pool (merged), owner by owner in the pool's order, each owner's in
// time.
// workspaces: what they count as while it is decided what is swapped, if that is not their size.
// slack: with a budget and measured times, windows grow to so many times what their transfers take,
// if the budget has room beside the workspaces as they are. 0: that room is left.
using WorkspaceBytes = std::map<TensorId, std::size_t>;
[[nodiscard]] std::vector<Stay> plan_stays(const TensorPool& pool, const Iteration& iteration,
                                           const SwapOptions& options,
                                           const WorkspaceBytes& workspaces = {}, double slack = 0);

[[nodiscard]] bool any_swapped(const std::vector<Stay>& stays);

// Moved in a step of so many passes.
struct SwapTraffic {
  std::size_t transfers = 0, read_bytes = 0, written_bytes = 0;
};
[[nodiscard]] SwapTraffic traffic(const TensorPool& pool, const std::vector<Stay>& stays,
                                  int passes);

// What the memory planner is asked for, one request a stay; what is swapped in whole
// kSwapAlignments.
[[nodiscard]] std::vector<MemoryRequest> memory_requests(const TensorPool& pool,
                                                         const std::vector<Stay>& stays);

// Whether each stay is a workspace.
[[nodiscard]] std::vector<bool> workspaces(const TensorPool& pool, const std::vector<Stay>& stays);

// Plans the requests, workspaces as fillers if that is no larger. If anything is swapped,
// large tensors lie below all others in whole kSwapAlignments, so that their offsets are multiples
// of it, too.
[[nodiscard]] MemoryPlan plan_residency(const TensorPool& pool, const std::vector<Stay>& stays);

}  // namespace moil
