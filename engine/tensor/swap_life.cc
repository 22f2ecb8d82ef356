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

std::vector<Stay> stays_of(const SwapLife& life, const Iteration& iteration) {
  const int last_order = iteration.last_order;
  if (life.uses.empty() || (life.persistent && !life.gaps.back().cut)) {
    Stay always;
    always.owner = life.owner;
    always.last = always.until = last_order;
    return {always};
  }
  std::vector<Stay> stays;
  // At rest an always-living tensor is in the file.
  bool on_file = life.persistent, arrives = life.persistent;
  bool writes = false, used_early = false, writes_early = false;  // in this stay
  std::size_t begin = 0;
  for (std::size_t u = 0; u < life.uses.size(); ++u) {
    const bool early = !iteration.is_once(life.uses[u].order);
    const bool writes_now = moil::writes(life.uses[u].access);
    writes = writes || writes_now;
    used_early = used_early || early;
    writes_early = writes_early || (early && writes_now);
    const bool leaves = life.gaps[u].cut;
    if (!leaves && !life.is_wrap(u)) continue;
    Stay stay;
    stay.owner = life.owner;
    stay.first = life.uses[begin].order;
    stay.last = life.uses[u].order;
    stay.loads = arrives;
    stay.stores = leaves && (writes || !on_file);
    stay.loads_early = stay.loads && used_early;
    stay.stores_early = stay.stores && used_early && (writes_early || !on_file);
    const std::size_t before = begin == 0 ? life.gaps.size() - 1 : begin - 1;
    stay.from = arrives ? std::max(0, stay.first - life.gaps[before].lookahead) : stay.first;
    stay.until = stay.stores ? std::min(last_order, stay.last + life.gaps[u].tail) : stay.last;
    stays.push_back(stay);
    on_file = stay.stores || (on_file && !writes);
    arrives = leaves;
    writes = used_early = writes_early = false;
    begin = u + 1;
  }
  return stays;
}

std::size_t moved_bytes(const SwapLife& life, const Iteration& iteration) {
  const auto early = static_cast<std::size_t>(iteration.passes - 1);
  std::size_t transfers = 0;
  for (const Stay& stay : stays_of(life, iteration))
    transfers += (stay.loads ? 1u : 0u) + (stay.stores ? 1u : 0u) +
                 early * ((stay.loads_early ? 1u : 0u) + (stay.stores_early ? 1u : 0u));
  return transfers * swap_aligned(life.bytes);
}

}  // namespace moil
