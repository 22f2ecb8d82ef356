#include "engine/io/onnx/input_ends.h"

#include <set>

#include "engine/io/onnx/element_type.h"

namespace moil::onnx {

InputEnds::InputEnds(const Graph& graph) : graph_(graph) {
  for (const Node& node : graph.nodes) {
    const std::set<std::string> inputs(node.inputs.begin(), node.inputs.end());
    for (const std::string& input : inputs) readers_[input].push_back(&node);
    for (const std::string& output : node.outputs) producers_[output] = &node;
  }
}

bool InputEnds::becomes_floats(const std::string& input) const {
  static const std::set<std::string> kMoves = {"Identity",  "Transpose", "Reshape", "Squeeze",
                                               "Unsqueeze", "Flatten",   "Slice"};
  std::vector<std::string> open = {input};
  std::set<std::string> seen = {input};
  bool found = false;
  while (!open.empty()) {
    const auto readers = readers_.find(open.back());
    open.pop_back();
    if (readers == readers_.end()) continue;
    for (const Node* node : readers->second) {
      if (node->op == "Shape") continue;
      const bool casts = node->op == "Cast";
      if ((casts && is_float(cast_type(*node))) || node->op == "DequantizeLinear") {
        found = true;
      } else if ((casts || kMoves.contains(node->op)) && !node->outputs.empty()) {
        if (seen.insert(node->outputs[0]).second) open.push_back(node->outputs[0]);
      } else {
        return false;
      }
    }
  }
  return found;
}

bool InputEnds::is_known(const std::string& name) const {
  const auto producer = producers_.find(name);
  return graph_.constants.contains(name) ||
         (producer != producers_.end() && producer->second->op == "Constant");
}

bool InputEnds::is_turned_to_channels(const std::string& input) const {
  static const std::set<std::string> kSteps = {
      "Identity", "Cast", "Add", "Sub", "Mul", "Div", "DequantizeLinear"};
  std::string name = input;
  for (std::size_t steps = 0; steps <= graph_.nodes.size(); ++steps) {
    const auto readers = readers_.find(name);
    if (readers == readers_.end() || readers->second.size() != 1) return false;
    const Node& node = *readers->second[0];
    if (node.op == "Transpose" && node.domain.empty())
      return steps > 0 && node.integers("perm") == std::vector<std::int64_t>{0, 3, 1, 2};
    if (!kSteps.contains(node.op) || node.outputs.size() != 1) return false;
    for (const std::string& other : node.inputs)
      if (other != name && !is_known(other)) return false;
    name = node.outputs[0];
  }
  return false;
}

}  // namespace moil::onnx
