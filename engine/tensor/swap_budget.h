// Proactive swap within a budget: which gaps are cut, and how early their loads begin.
//
// Cuts no more than it takes to bring live bytes down to the budget, at the fewest bytes moved,
// and gives the room that is then left to loads ahead of time, so that steps need not wait.
// A pure function; thread-safe.
#pragma once

#include <vector>

#include "engine/tensor/swap_life.h"

namespace moil {

// Uses options.budget_bytes and options.times. Where the budget cannot be met all that helps is
// cut.
void cut_to_budget(const SwapOptions& options, int last_order, std::vector<SwapLife>& lives);

}  // namespace moil
