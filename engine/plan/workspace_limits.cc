#include "engine/plan/workspace_limits.h"

#include <algorithm>
#include <map>
#include <string>

namespace moil {
namespace {

// Layers of one shape have one kernel, and so the least of their limits.
void share_among_twins(const Graph& graph, WorkspaceLimits& limits) {
  std::map<std::string, decltype(LayerSetup::workspace_limits)> least;
  const auto key = [&](std::size_t i) {
    const Node& node = graph.nodes[i];
    std::string text = node.type;
    for (const TensorInfo& info : graph.input_infos(node)) text += " " + info.dims.to_string();
    for (const TensorInfo& info : graph.output_infos(node)) text += " " + info.dims.to_string();
    return text;
  };
  for (std::size_t i = 0; i < limits.size(); ++i) {
    auto& l = least[key(i)];
    l = {std::min(l.forward, limits[i].forward), std::min(l.gradient, limits[i].gradient),
         std::min(l.derivative, limits[i].derivative)};
  }
  for (std::size_t i = 0; i < limits.size(); ++i) limits[i] = least.at(key(i));
}

}  // namespace

WorkspaceLimits room_for_workspaces(const Graph& graph, const NetworkPlan& lean, std::size_t most) {
  const auto requests = memory_requests(lean.pool, lean.stays);
  const auto filler = workspaces(lean.pool, lean.stays);
  const MemoryPlan layout = plan_memory_with_fillers(requests, filler);
  std::map<int, std::size_t> gaps;  // by order
  const auto room = [&](int order) {
    const auto [it, is_new] = gaps.try_emplace(order, 0);
    if (is_new) it->second = largest_gap(requests, filler, layout.offsets, order, order, most);
    return std::max<std::size_t>(it->second, 1);  // 0 would ask for the leanest
  };
  WorkspaceLimits limits;
  for (const NodeTensors& t : lean.nodes) {
    limits.push_back({room(t.orders.forward), room(t.orders.compute_gradient),
                      room(t.orders.compute_derivative)});
  }
  share_among_twins(graph, limits);
  return limits;
}

}  // namespace moil
