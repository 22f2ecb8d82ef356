// What whole backward passes were measured to take, as a timing profile keeps it for
// BackwardTime (backward_time.h).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/elastic/timing_profile.h"
#include "engine/graph/graph.h"

namespace moil {

struct MeasuredBackward {
  std::set<std::string> trained;
  double share = 0;  // of what a full backward pass takes
};

// Sets backward and kernelless_backward of a profile that has everything else. The last is that of
// everything, by the profile's own step; measurements of about as many parts are averaged, and what
// came to more than everything was disturbed and is left out. Pure; safe from any thread.
void take_backward(TimingProfile& profile, const Graph& graph,
                   const std::vector<MeasuredBackward>& measured);

}  // namespace moil
