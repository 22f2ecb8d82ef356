#include "engine/device/hand_over.h"

namespace moil {

Move HandOver::adopt(RangeId range) {
  holders_[static_cast<std::size_t>(range)] = Holder::kHost;
  return shares_memory_ ? Move{Transfer::kGive, true, true} : Move{};
}

Move HandOver::touch(const Touch& touch, bool by_processor) {
  Holder& holder = holders_[static_cast<std::size_t>(touch.range)];
  const Holder self = by_processor ? Holder::kProcessor : Holder::kHost;
  const Transfer transfer = by_processor ? Transfer::kTake : Transfer::kGive;
  const Holder before = holder;
  if (before == self) return {};
  if (before == Holder::kBoth) {
    if (!touch.writes) return {};
    holder = self;
    // Each has a copy; on unified memory what both may read is closed to writers.
    return shares_memory_ ? Move{transfer, !touch.fresh, touch.writes} : Move{};
  }
  // A processor reads unified memory as its own, though the host could still read it.
  const bool both = !touch.writes && (!by_processor || !shares_memory_);
  holder = both ? Holder::kBoth : self;
  const bool contents = before != Holder::kNobody && !touch.fresh;
  if (!contents && (!shares_memory_ || (by_processor && before == Holder::kNobody))) return {};
  return {transfer, contents, touch.writes};
}

bool HandOver::retire(RangeId range) {
  Holder& holder = holders_[static_cast<std::size_t>(range)];
  const bool was_held = holder != Holder::kNobody;
  holder = Holder::kNobody;
  return was_held;
}

}  // namespace moil
