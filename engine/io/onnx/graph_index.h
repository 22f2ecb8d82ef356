// Who computes each value of a graph, and who reads it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/io/onnx/onnx_graph.h"

namespace moil::onnx {

// The graph must outlive it.
struct GraphIndex {
  explicit GraphIndex(const Graph& graph) {
    for (const Node& node : graph.nodes) {
      for (const std::string& output : node.outputs)
        if (!output.empty()) producers[output] = &node;
      for (const std::string& input : node.inputs) readers[input].push_back(&node);
    }
    for (const GraphValue& output : graph.outputs) readers[output.name].push_back(nullptr);
  }

  std::map<std::string, const Node*> producers;
  std::map<std::string, std::vector<const Node*>> readers;  // null: whoever has the outputs
};

}  // namespace moil::onnx
