// Writes an ONNX graph node by node and imports it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/io/onnx/onnx_import.h"

namespace moil::onnx {

using Ints = std::vector<std::int64_t>;
using Types = std::vector<std::string>;

// What the graph is refused with.
inline std::string refusal_of(const Graph& graph, const ImportOptions& options = {}) {
  try {
    (void)import_onnx(graph, options);
  } catch (const Error& e) {
    return e.what();
  }
  return "imported";
}

class Builder {
 public:
  Builder() {
    graph.name = "g";
    graph.opset = 13;
    graph.inputs = {{"image", {-1, 3, 8, 8}, true}};
  }
  // Adds a node of the value before and returns its output's name.
  std::string add(const std::string& op, std::vector<std::string> more = {},
                  std::map<std::string, Attribute> attributes = {}) {
    more.insert(more.begin(), last);
    return add_of(op, std::move(more), std::move(attributes));
  }
  std::string add_of(const std::string& op, std::vector<std::string> inputs,
                     std::map<std::string, Attribute> attributes = {}) {
    last = op + std::to_string(graph.nodes.size());
    graph.nodes.push_back({last, op, "", std::move(inputs), {last}, std::move(attributes)});
    return last;
  }
  std::string floats(const std::string& name, Ints dims, float value = 0.5F) {
    std::int64_t count = 1;
    for (const std::int64_t d : dims) count *= d;
    graph.constants[name] =
        Tensor::of(std::move(dims), std::vector<float>(static_cast<std::size_t>(count), value));
    return name;
  }
  std::string ints(const std::string& name, Ints values) {
    const auto size = static_cast<std::int64_t>(values.size());
    graph.constants[name] = Tensor::of_ints({size}, std::move(values));
    return name;
  }
  ImportedModel import() {
    graph.outputs = {{last, {}, true}};
    return import_onnx(graph);
  }
  std::string refusal(const ImportOptions& options = {}) {
    graph.outputs = {{last, {}, true}};
    return refusal_of(graph, options);
  }
  std::vector<std::string> types() {
    std::vector<std::string> types;
    for (const auto& layer : import().description.layers) types.push_back(layer.type);
    return types;
  }

  Graph graph;
  std::string last = "image";
};

}  // namespace moil::onnx
