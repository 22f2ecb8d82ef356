// How long before its use a swapped tensor must begin to come in, and how long after its use its
// memory is still being written out: counted in execution orders, chosen from measured times.
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

// One owner of memory. The last gap is the one between iterations.
struct SwapLife {
  TensorId owner = kNoTensor;
  std::size_t bytes = 0;
  bool persistent = false, pinned = false, is_weight = false;
  std::vector<TensorUse> uses;
  std::vector<SwapGap> gaps;
};

// Sets tail and lookahead of every gap from what its transfer takes by itself. With `queued`, gaps
// that were chosen in the round before also wait for each other: there is one disk.
void choose_windows(const SwapTimes& times, int last_order, bool queued,
                    std::vector<SwapLife>& lives);

}  // namespace moil
