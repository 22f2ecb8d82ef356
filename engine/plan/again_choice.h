// Which outputs are made again so that a training plan fits into a budget (plan/again.h).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/plan/network_plan.h"

namespace moil {

// Layers for PlanOptions::again, so that the pool of the leanest kernels takes `bytes` at most:
// those that give most bytes for a second, as few as it takes. None if it fits without; nothing if
// no number of them fits. forward_seconds: of F, by node. `options.again` is not looked at.
[[nodiscard]] std::optional<std::set<std::string>> choose_again(
    const Graph& graph, const PlanOptions& options, const std::vector<double>& forward_seconds,
    std::size_t bytes, KernelSelector& kernels);

}  // namespace moil
