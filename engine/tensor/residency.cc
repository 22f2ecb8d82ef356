#include "engine/tensor/residency.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "engine/tensor/swap_budget.h"
#include "engine/tensor/swap_life.h"

namespace moil {
namespace {

SwapLife life_of(const TensorPool& pool, TensorId owner, std::size_t bytes,
                 const SwapOptions& options) {
  SwapLife life;
  life.owner = owner;
  life.bytes = bytes;
  life.persistent = pool.is_always(owner);
  life.uses = pool.uses(owner);
  const TensorKind kind = pool.spec(owner).kind;
  life.is_weight = kind == TensorKind::kWeight || kind == TensorKind::kStatistic ||
                   kind == TensorKind::kOptimizerState;
  // What lives always without known uses (packed weights) cannot leave.
  life.pinned = life.bytes < options.smallest_bytes || life.uses.empty() ||
                kind == TensorKind::kWorkspace || (life.persistent && kind == TensorKind::kSaved);
  const bool proactive = options.mode == SwapMode::kProactive;
  SwapGap gap;
  gap.tail = proactive ? 1 : 0;
  if (proactive)
    gap.lookahead = life.is_weight ? options.weight_lookahead : options.tensor_lookahead;
  life.gaps.assign(life.uses.size(), gap);
  return life;
}

// What rests in the file between iterations saves memory before its first use or behind its last,
// or is cut elsewhere.
bool gains_at_rest(const SwapLife& life, int last_order) {
  const SwapGap& rest = life.gaps.back();
  return std::any_of(life.gaps.begin(), life.gaps.end(), [](const SwapGap& g) { return g.cut; }) ||
         life.uses.back().order + rest.tail < last_order ||
         life.uses.front().order > rest.lookahead;
}

void cut_all(SwapLife& life, SwapMode mode, int last_order) {
  for (std::size_t g = 0; g + 1 < life.gaps.size(); ++g) life.gaps[g].cut = can_cut(life, g, mode);
  if (life.gaps.empty() || !can_cut(life, life.gaps.size() - 1, mode)) return;
  life.gaps.back().cut = gains_at_rest(life, last_order);
}

// Large enough that whole kSwapAlignments cost nothing.
constexpr std::size_t kWorthAligning = 64 * 1024;

// Whether each stay lies among those that are aligned for transfers.
std::vector<bool> aligned_for_swap(const TensorPool& pool, const std::vector<Stay>& stays) {
  std::vector<bool> aligned(stays.size(), false);
  if (!any_swapped(stays)) return aligned;
  for (std::size_t s = 0; s < stays.size(); ++s)
    aligned[s] = stays[s].swapped() || pool.spec(stays[s].owner).info.bytes() >= kWorthAligning;
  return aligned;
}

MemoryPlan smaller_plan(std::span<const MemoryRequest> requests, const std::vector<bool>& filler) {
  MemoryPlan together = plan_memory(requests);
  MemoryPlan apart = plan_memory_with_fillers(requests, filler);
  return apart.total_bytes <= together.total_bytes ? apart : together;
}

}  // namespace

const char* to_string(SwapMode mode) {
  switch (mode) {
    case SwapMode::kOff:
      return "off";
    case SwapMode::kOnDemand:
      return "on_demand";
    case SwapMode::kReduced:
      return "reduced";
    case SwapMode::kProactive:
      return "proactive";
  }
  return "?";
}

SwapMode swap_mode(std::string_view name) {
  for (const SwapMode mode :
       {SwapMode::kOff, SwapMode::kOnDemand, SwapMode::kReduced, SwapMode::kProactive}) {
    if (name == to_string(mode)) return mode;
  }
  throw Error(ErrorCode::kInvalidArgument, "unknown swap mode \"" + std::string(name) +
                                               "\": expected off, on_demand, reduced or proactive");
}

std::vector<Stay> plan_stays(const TensorPool& pool, const Iteration& iteration,
                             const SwapOptions& options, const WorkspaceBytes& workspaces,
                             double slack) {
  std::vector<SwapLife> lives;
  for (std::size_t i = 0; i < pool.owners().size(); ++i) {
    const auto counted = workspaces.find(pool.owners()[i]);
    const std::size_t bytes =
        counted == workspaces.end() ? pool.requests()[i].bytes : counted->second;
    lives.push_back(life_of(pool, pool.owners()[i], bytes, options));
  }
  if (options.mode == SwapMode::kProactive && options.budget_bytes > 0) {
    cut_to_budget(options, iteration, lives);
    for (std::size_t i = 0; i < lives.size(); ++i) lives[i].bytes = pool.requests()[i].bytes;
    if (slack > 0) widen_windows(options, iteration, slack, lives);
  } else if (options.mode != SwapMode::kOff) {
    for (SwapLife& life : lives) cut_all(life, options.mode, iteration.last_order);
  }
  std::vector<Stay> stays;
  for (const SwapLife& life : lives) {
    const std::vector<Stay> own = stays_of(life, iteration);
    stays.insert(stays.end(), own.begin(), own.end());
  }
  return stays;
}

bool any_swapped(const std::vector<Stay>& stays) {
  return std::any_of(stays.begin(), stays.end(), [](const Stay& s) { return s.swapped(); });
}

SwapTraffic traffic(const TensorPool& pool, const std::vector<Stay>& stays, int passes) {
  const auto times = [&](bool last, bool early) {
    return (last ? 1u : 0u) + (early ? static_cast<std::size_t>(passes - 1) : 0u);
  };
  SwapTraffic sum;
  for (const Stay& stay : stays) {
    const std::size_t bytes = swap_aligned(pool.spec(stay.owner).info.bytes());
    const std::size_t loads = times(stay.loads, stay.loads_early);
    const std::size_t stores = times(stay.stores, stay.stores_early);
    sum.transfers += loads + stores;
    sum.read_bytes += loads * bytes;
    sum.written_bytes += stores * bytes;
  }
  return sum;
}

std::vector<MemoryRequest> memory_requests(const TensorPool& pool, const std::vector<Stay>& stays) {
  const std::vector<bool> aligned = aligned_for_swap(pool, stays);
  std::vector<MemoryRequest> requests;
  for (std::size_t s = 0; s < stays.size(); ++s) {
    std::size_t bytes = pool.spec(stays[s].owner).info.bytes();
    if (pool.alignment() > kAlignment)
      bytes = (bytes + pool.alignment() - 1) / pool.alignment() * pool.alignment();
    requests.push_back({aligned[s] ? swap_aligned(bytes) : bytes, stays[s].from, stays[s].until});
  }
  return requests;
}

std::vector<bool> workspaces(const TensorPool& pool, const std::vector<Stay>& stays) {
  std::vector<bool> filler;
  for (const Stay& stay : stays)
    filler.push_back(pool.spec(stay.owner).kind == TensorKind::kWorkspace);
  return filler;
}

MemoryPlan plan_residency(const TensorPool& pool, const std::vector<Stay>& stays) {
  const std::vector<MemoryRequest> requests = memory_requests(pool, stays);
  const std::vector<bool> filler = workspaces(pool, stays);
  if (!any_swapped(stays)) return smaller_plan(requests, filler);
  const std::vector<bool> aligned = aligned_for_swap(pool, stays);
  MemoryPlan plan{std::vector<std::size_t>(requests.size()), 0};
  for (const bool large : {true, false}) {
    std::vector<MemoryRequest> part;
    std::vector<bool> part_filler;
    std::vector<std::size_t> index;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (aligned[i] != large) continue;
      part.push_back(requests[i]);
      part_filler.push_back(filler[i]);
      index.push_back(i);
    }
    const MemoryPlan placed = smaller_plan(part, part_filler);
    for (std::size_t i = 0; i < index.size(); ++i)
      plan.offsets[index[i]] = plan.total_bytes + placed.offsets[i];
    plan.total_bytes += placed.total_bytes;
  }
  for (std::size_t i = 0; i < stays.size(); ++i) {
    if (stays[i].swapped() && plan.offsets[i] % kSwapAlignment != 0)
      throw Error(ErrorCode::kInternal, "a swapped tensor is not aligned");
  }
  return plan;
}

}  // namespace moil
