// One owner of memory as swap sees it: its uses, and the gaps between them that may be cut.
//
// A gap that is cut is spent in the swap file: the tensor is stored behind one use and loaded
// before the next. Pure functions; thread-safe.
#pragma once

#include <vector>

#include "engine/tensor/residency.h"

namespace moil {

// The gap behind a use.
struct SwapGap {
  bool cut = false;     // swapped out and in again
  bool chosen = false;  // it was cut in the round before
  int tail = 0;         // orders that storing takes behind the use
  int lookahead = 0;    // orders that loading begins before the next use
};

// The last gap is the one between iterations.
struct SwapLife {
  TensorId owner = kNoTensor;
  std::size_t bytes = 0;
  bool persistent = false, pinned = false, is_weight = false;
  std::vector<TensorUse> uses;
  std::vector<SwapGap> gaps;

  bool is_wrap(std::size_t gap) const { return gap + 1 == uses.size(); }
  // The order of the use behind a gap; of the last gap, that of the first use.
  int next_use(std::size_t gap) const { return uses[is_wrap(gap) ? 0 : gap + 1].order; }
};

// Whether the mode allows a cut there, and its windows leave an order that it frees.
[[nodiscard]] bool can_cut(const SwapLife& life, std::size_t gap, SwapMode mode);

// Cuts a gap or mends it. An always-living tensor that leaves memory within an iteration rests in
// the file: its last gap is cut with any other.
void set_cut(SwapLife& life, std::size_t gap, bool cut);

// The stays that its cuts leave, in time.
[[nodiscard]] std::vector<Stay> stays_of(const SwapLife& life, const Iteration& iteration);

// Bytes that a step loads and stores, in all its passes.
[[nodiscard]] std::size_t moved_bytes(const SwapLife& life, const Iteration& iteration);

}  // namespace moil
