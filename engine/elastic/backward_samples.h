// Which trainings stand for all selections where a profile's backward passes are measured as a
// whole (backward_time.h).
//
// The shortest train the last layer, the last two and so on. In longer ones a selection leaves
// gaps, through which the error passes without an update between: they take up to a tenth longer
// than last layers that take as long by their parts. So these are what the selector chooses for
// random importance.
//
// A large weight that is the only one and the deepest to learn takes up to half as long to update:
// the largest are measured alone, too.
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

// Those that are worth it, the largest first; at most six. Pure; safe from any thread.
[[nodiscard]] std::vector<std::string> large_weights(const TimingProfile& parts);

}  // namespace moil
