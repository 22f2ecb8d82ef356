#include "engine/tensor/swap_life.h"

#include <algorithm>

namespace moil {

bool can_cut(const SwapLife& life, std::size_t g, SwapMode mode) {
  if (life.pinned) return false;
  if (life.is_wrap(g)) return life.persistent;
  const int use = life.uses[g].order, next = life.next_use(g);
  if (mode == SwapMode::kOnDemand) return true;
  if (mode == SwapMode::kReduced) return next - use > 1;
  const int out = use + life.gaps[g].tail + 1;
  return out < next - life.gaps[g].lookahead;
}

void set_cut(SwapLife& life, std::size_t g, bool cut) {
  life.gaps[g].cut = cut;
  if (!life.persistent) return;
  const bool inner = std::any_of(life.gaps.begin(), life.gaps.end() - 1,
                                 [](const SwapGap& gap) { return gap.cut; });
  if (inner) life.gaps.back().cut = true;
}

std::vector<Stay> stays_of(const SwapLife& life, int last_order) {
  if (life.uses.empty() || (life.persistent && !life.gaps.back().cut))
    return {{life.owner, 0, last_order, 0, last_order, false, false}};
  std::vector<Stay> stays;
  // At rest an always-living tensor is in the file.
  bool on_file = life.persistent, arrives = life.persistent, writes = false;
  std::size_t begin = 0;
  for (std::size_t u = 0; u < life.uses.size(); ++u) {
    writes = writes || life.uses[u].access == Access::kWrite;
    const bool leaves = life.gaps[u].cut;
    if (!leaves && !life.is_wrap(u)) continue;
    Stay stay{life.owner, life.uses[begin].order, life.uses[u].order, 0, 0, arrives, false};
    stay.stores = leaves && (writes || !on_file);
    const std::size_t before = begin == 0 ? life.gaps.size() - 1 : begin - 1;
    stay.from = arrives ? std::max(0, stay.first - life.gaps[before].lookahead) : stay.first;
    stay.until = stay.stores ? std::min(last_order, stay.last + life.gaps[u].tail) : stay.last;
    stays.push_back(stay);
    on_file = stay.stores || (on_file && !writes);
    arrives = leaves;
    writes = false;
    begin = u + 1;
  }
  return stays;
}

std::size_t moved_bytes(const SwapLife& life, int last_order) {
  std::size_t bytes = 0;
  for (const Stay& stay : stays_of(life, last_order))
    bytes += ((stay.loads ? 1u : 0u) + (stay.stores ? 1u : 0u)) * swap_aligned(life.bytes);
  return bytes;
}

}  // namespace moil
