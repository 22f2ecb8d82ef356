// Adds to a selection what the selector's upper bound left unused.
//
// On parallel branches select_tensors() (ElasticTrainer, §4.2, on a chain) charges for passing the
// error through branches that need not be entered. Here the time is the graph's own,
// predicted_step(), and what it leaves serves further tensors: always the one of most importance
// per second that it adds to the step, the way that the error has to take anew included. Greedy:
// nothing that is selected is given up for something better.
//
// Time that is left then goes to tensors whose importance is not above 0, the largest first: a
// probe is small, a full-sized step overshoots on it, and over an interval their updates serve,
// too.
//
// A pure function; safe from any thread.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "engine/elastic/timing_profile.h"

namespace moil {

// The selection and what was added to it, "LAYER.WEIGHT"; it is never made smaller. With an
// addition a step takes step_seconds at most, to rounding (forward pass included, as
// predicted_step(), of the same graph). Weights of the profile are added that `importance` names.
// Ties go to the layer that runs first.
//
// fits: refuses selections for what does not add up, as peak memory. It is asked for everything
// that time allows; only where it refuses that, for each addition. Empty: all fit.
//
// Throws kInvalidArgument for a selected weight that the profile or the graph does not have, and
// for a time or an importance that is not a number.
[[nodiscard]] std::set<std::string> fill_selection(
    const TimingProfile& profile, const Graph& graph,
    const std::map<std::string, double>& importance, const std::set<std::string>& selection,
    double step_seconds, const std::function<bool(const std::set<std::string>&)>& fits = {});

}  // namespace moil
