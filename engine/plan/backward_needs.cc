#include "engine/plan/backward_needs.h"

#include <algorithm>

#include "base/error.h"
#include "base/index.h"

namespace moil {
namespace {

void check_exists(const Graph& graph, const std::string& name) {
  for (const Node& n : graph.nodes) {
    for (const WeightSpec& w : n.weights) {
      if (w.trainable && weight_name(n, w) == name) return;
    }
  }
  throw Error(ErrorCode::kInvalidArgument, "no layer has a trainable weight \"" + name + "\"");
}

}  // namespace

bool BackwardNeeds::gradient(int node) const {
  const std::vector<bool>& of_weights = trained[at(node)];
  return std::find(of_weights.begin(), of_weights.end(), true) != of_weights.end();
}

bool BackwardNeeds::derivative_of_inputs(const Node& node) const {
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](int v) { return derivative[at(v)]; });
}

BackwardNeeds backward_needs(const Graph& graph, const std::set<std::string>& trainable) {
  BackwardNeeds needs;
  needs.trained.resize(graph.nodes.size());
  needs.derivative.assign(graph.values.size(), false);
  std::size_t found = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    for (const WeightSpec& w : node.weights) {
      const bool trained = w.trainable && trainable.contains(weight_name(node, w));
      needs.trained[i].push_back(trained);
      found += trained ? 1 : 0;
    }
    const bool any = needs.gradient(static_cast<int>(i)) || needs.derivative_of_inputs(node);
    for (const int v : node.outputs) needs.derivative[at(v)] = any;
  }
  if (found != trainable.size()) {
    for (const auto& name : trainable) check_exists(graph, name);
  }
  return needs;
}

}  // namespace moil
