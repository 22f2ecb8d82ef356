// How long before its use a swapped tensor must begin to come in, and how long after its use its
// memory is still being written out: counted in execution orders, chosen from measured times.
#pragma once

#include <vector>

#include "engine/tensor/swap_life.h"

namespace moil {

// Transfers seldom reach the measured rate while the processor computes.
inline constexpr double kTransferSlack = 1.25;

// Sets tail and lookahead of every gap from what its transfer takes by itself, times `slack`. With
// `queued`, gaps that were chosen in the round before also wait for each other: there is one disk.
void choose_windows(const SwapTimes& times, int last_order, bool queued, double slack,
                    std::vector<SwapLife>& lives);

}  // namespace moil
