// A timing profile of a machine whose speed has changed: by what the steps that were trained took,
// which costs neither time nor memory.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/elastic/timing_profile.h"

namespace moil {

// Mean seconds of a step's parts, by the graph's node and what is done.
using StepSeconds = std::map<std::pair<int, StepKind>, double>;

// orders: what Network::measure_orders() added up in so many passes through the network.
[[nodiscard]] StepSeconds mean_seconds(const NetworkPlan& plan, const std::vector<double>& orders,
                                       double passes);

// What took part in steps that trained the selection is as measured, and everything else takes as
// much longer or shorter as the forward pass. The profile is of the same graph. Pure. Throws
// kInvalidArgument where no forward pass was measured.
[[nodiscard]] TimingProfile updated_profile(const TimingProfile& profile,
                                            const StepSeconds& measured,
                                            const std::set<std::string>& selection);

}  // namespace moil
