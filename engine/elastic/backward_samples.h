// Which trainings stand for all selections where a profile's backward passes are measured as a
// whole (backward_time.h).
//
// The shortest train the last layer and the last two. In longer ones a selection leaves gaps,
// through which the error passes without an update between: they take up to a tenth longer than
// last layers that take as long by their parts. So these are what the selector chooses for random
// importance.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/elastic/timing_profile.h"
#include "engine/graph/graph.h"

namespace moil {

// Weights that learn, of each training; the shorter first. Without training everything. The same
// for the same profile. Pure; safe from any thread.
[[nodiscard]] std::vector<std::set<std::string>> backward_samples(const TimingProfile& parts,
                                                                  const Graph& graph);

}  // namespace moil
