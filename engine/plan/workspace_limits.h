// How much memory a plan leaves to the workspaces of its steps: kernels are chosen within it.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/plan/network_plan.h"

namespace moil {

// What the workspaces of each node's steps may take.
using WorkspaceLimits = std::vector<decltype(LayerSetup::workspace_limits)>;

// What each step's workspace may take in a plan of the leanest kernels before the pool exceeds
// `most`: the largest gap that the other tensors leave at its order.
[[nodiscard]] WorkspaceLimits room_for_workspaces(const Graph& graph, const NetworkPlan& lean,
                                                  std::size_t most);

}  // namespace moil
