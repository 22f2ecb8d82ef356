#include "engine/plan/workspace_limits.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "engine/tensor/gaps.h"

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
  std::vector<bool> others = filler;
  others.flip();
  const Gaps gaps(requests, others, layout.offsets);
  const auto room = [&](int order) {
    return std::max<std::size_t>(gaps.largest(order, most), 1);  // 0 would ask for the leanest
  };
  WorkspaceLimits limits(lean.nodes.size());
  for (std::size_t order = 0; order < lean.program.size(); ++order) {
    const Instruction& step = lean.program[order];
    if (step.conversion != Conversion::kNone) continue;
    auto& of_node = limits[static_cast<std::size_t>(step.node)];
    const int now = static_cast<int>(order);
    if (step.kind == StepKind::kForward) of_node.forward = std::min(of_node.forward, room(now));
    if (step.kind == StepKind::kComputeGradient) of_node.gradient = room(now);
    if (step.kind == StepKind::kComputeDerivative) of_node.derivative = room(now);
  }
  share_among_twins(graph, limits);
  return limits;
}

}  // namespace moil
