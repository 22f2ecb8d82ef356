// A model description made concrete for one batch size: layers built, shapes known, names resolved.
//
// Nodes stand in topological order, stable in the description's order. Values are the tensors on
// the edges. Plain data; not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/layers/layer.h"
#include "engine/model/model_description.h"

namespace moil {

struct Consumer {
  int node = 0;
  int slot = 0;  // which of the node's inputs
};

struct Value {
  std::string name;  // "layer" or "layer:1", or the input's name
  TensorInfo info;
  int producer = -1;  // -1: an input of the model
  int producer_slot = 0;
  std::vector<Consumer> consumers;
};

struct Node {
  std::string name;
  std::string type;
  std::unique_ptr<Layer> layer;
  std::vector<int> inputs;   // value indices
  std::vector<int> outputs;  // value indices
  std::vector<WeightSpec> weights;
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<Value> values;
  std::vector<int> inputs;  // value indices, in the description's order
  std::vector<int> outputs;

  std::vector<TensorInfo> input_infos(const Node& node) const;
  std::vector<TensorInfo> output_infos(const Node& node) const;
};

// Throws kInvalidArgument naming the layer: duplicate or unknown names, a cycle, shapes that do not
// fit, unknown types or properties, weights shared that are not alike. batch >= 1.
[[nodiscard]] Graph build_graph(const ModelDescription& description, std::int64_t batch);

// An input of the model for one batch size.
[[nodiscard]] TensorInfo input_info(const InputDescription& input, std::int64_t batch);

// What a layer gives for these inputs. Throws as build_graph() does.
[[nodiscard]] std::vector<TensorInfo> infer_outputs(const Layer& layer,
                                                    const LayerDescription& description,
                                                    std::span<const TensorInfo> inputs);

// The name weights go by in files: "LAYER.WEIGHT", of the layer that has it if it is shared.
std::string weight_name(const Node& node, const WeightSpec& weight);
// What all its weights and statistics take, trained or not; one that is shared is its first node's.
[[nodiscard]] std::size_t weight_bytes(const Node& node);
[[nodiscard]] std::size_t weight_bytes(const Graph& graph);

// The layers of a description in an order in which every layer follows what feeds it; stable.
// Inputs are named as value_name() does. Throws kInvalidArgument: duplicate names, unknown inputs,
// a cycle.
[[nodiscard]] std::vector<LayerDescription> topological_order(const ModelDescription& description);

// "layer:1" -> {"layer", 1}; "layer" -> {"layer", 0}. A number has at most six digits: a layer has
// no more than a million outputs.
std::pair<std::string, int> split_value_name(const std::string& name);
// The one name of a value: "layer:0" -> "layer".
std::string value_name(const std::string& name);

}  // namespace moil
