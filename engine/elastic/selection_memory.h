// Less memory than full training's: of a selection that would need nearly as much, the layers
// nearest the input are left out, whose maps are the largest, as far as little is given up for it.
//
// Pure functions; safe from any thread.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "engine/elastic/timing_profile.h"

namespace moil {

// What a selection at speedup_ratio should need at most: (15 + ρ) / 16 of full training's plan. All
// memory may be used where all time may.
[[nodiscard]] std::size_t most_selection_bytes(double speedup_ratio,
                                               std::size_t full_planned_bytes);

// The selection without its deepest layers: until it needs at most so much, and without more than a
// twentieth of its importance. bytes_of: of a selection; last asked of what is returned. profile
// gives the layers' order; importance is of every selected weight, else std::out_of_range.
[[nodiscard]] std::set<std::string> lightened(
    std::set<std::string> selection, const TimingProfile& profile,
    const std::map<std::string, double>& importance, std::size_t most_bytes,
    const std::function<std::size_t(const std::set<std::string>&)>& bytes_of);

}  // namespace moil
