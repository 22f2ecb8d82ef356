// Proactive swap within a budget: which gaps are cut, and how early their loads begin.
//
// Pure functions; thread-safe.
#pragma once

#include <vector>

#include "engine/tensor/swap_life.h"

namespace moil {

// Cuts no more than it takes to bring live bytes down to options.budget_bytes, at the fewest bytes
// moved, with windows as long as the transfers take by options.times. If the budget cannot be
// met so, windows close at the orders that exceed it; if it cannot be met at all, all that helps
// is cut.
void cut_to_budget(const SwapOptions& options, const Iteration& iteration,
                   std::vector<SwapLife>& lives);

// Every window of a cut that is shorter than `slack` times its transfer grows by an order at a
// time, in turn with the others, while that needs no more memory than the budget, or than there is
// now. Nothing without options.times.
void widen_windows(const SwapOptions& options, const Iteration& iteration, double slack,
                   std::vector<SwapLife>& lives);

}  // namespace moil
