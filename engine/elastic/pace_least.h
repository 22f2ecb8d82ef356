// What a run cannot do without, by its timing profile: the smallest ρ, and what the last epochs
// keep of the time.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>

#include "engine/elastic/interval_selection.h"
#include "engine/elastic/pace.h"
#include "engine/elastic/profiles_in_force.h"
#include "engine/elastic/tail_cut.h"
#include "engine/elastic/timing_profile.h"
#include "engine/graph/graph.h"

namespace moil {

// The smallest ρ with which anything can be trained: forward, and the cheapest layer.
[[nodiscard]] double smallest_speedup_ratio(const TimingProfile& profile);

// What the least step takes in an interval, in seconds.
[[nodiscard]] double smallest_step(const IntervalStep& step);

// For an interval of so many epochs that may keep maps on these terms. The graph is the one that
// was profiled. Maps are computed once, by the first interval that begins behind them.
[[nodiscard]] PaceLeast pace_least(const ProfileInForce& profile, const Graph& graph,
                                   const TailTerms& tail, std::int64_t epochs,
                                   std::int64_t steps_of_epoch);

}  // namespace moil
