// Which outputs are made again so that a training plan fits into a budget (plan/again.h).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/plan/network_plan.h"

namespace moil {

// A candidate of a plan: what keeping it costs in memory, and making it again in time.
struct AgainChoice {
  std::string layer;
  std::size_t bytes = 0;
  double seconds = 0;  // of F' and what it needs
};
// The most bytes for a second first. forward_seconds: of F, by node.
[[nodiscard]] std::vector<AgainChoice> again_choices(const Graph& graph, const NetworkPlan& plan,
                                                     const std::vector<double>& forward_seconds);
// A forecast of forward_seconds, from the arithmetic and the bytes that each node moves.
[[nodiscard]] std::vector<double> forecast_forward_seconds(const Graph& graph);

// Layers for PlanOptions::again, so that the pool of the leanest kernels takes `bytes` at most:
// those that give most bytes for a second, as few as it takes. None if it fits without; nothing if
// no number of them fits. forward_seconds: of F, by node. `options.again` is not looked at.
[[nodiscard]] std::optional<std::set<std::string>> choose_again(
    const Graph& graph, const PlanOptions& options, const std::vector<double>& forward_seconds,
    std::size_t bytes, KernelSelector& kernels);

}  // namespace moil
