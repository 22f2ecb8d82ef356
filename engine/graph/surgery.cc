#include "engine/graph/surgery.h"

#include <algorithm>

#include "base/error.h"
#include "engine/graph/network.h"

namespace moil {
namespace {

LayerDescription& layer_named(ModelDescription& model, const std::string& name) {
  return *std::find_if(model.layers.begin(), model.layers.end(),
                       [&](const LayerDescription& l) { return l.name == name; });
}

const char* rows_property(const LayerDescription& layer) {
  return layer.type == "conv2d" ? "out_channels" : "units";
}

}  // namespace

std::string find_classifier(const ModelDescription& model) {
  const auto refuse = [&](const std::string& why) -> Error {
    return Error(ErrorCode::kInvalidArgument,
                 "model \"" + model.name + "\" has no classifier to grow: " + why);
  };
  if (model.outputs.size() != 1)
    throw refuse("it has " + std::to_string(model.outputs.size()) + " outputs");
  const Graph graph = build_graph(model, 1);
  int producer = graph.values[static_cast<std::size_t>(graph.outputs[0])].producer;
  while (producer >= 0) {
    const Node& node = graph.nodes[static_cast<std::size_t>(producer)];
    if (node.type == "fully_connected" || node.type == "conv2d") return node.name;
    if (!node.weights.empty() || node.inputs.size() != 1)
      throw refuse("layer \"" + node.name + "\" stands behind it");
    producer = graph.values[static_cast<std::size_t>(node.inputs[0])].producer;
  }
  throw refuse("no layer with weights feeds its output");
}

std::int64_t classifier_classes(const ModelDescription& model) {
  ModelDescription copy = model;
  const LayerDescription& layer = layer_named(copy, find_classifier(model));
  return std::get<std::int64_t>(layer.properties.at(rows_property(layer)));
}

void resize_classifier(ModelDescription& model, std::int64_t classes) {
  LayerDescription& layer = layer_named(model, find_classifier(model));
  layer.properties[rows_property(layer)] = classes;
}

void grow_classifier(ModelDescription& model, WeightMap& weights, std::int64_t classes,
                     std::uint64_t seed) {
  const std::int64_t before = classifier_classes(model);
  if (classes < before) {
    throw Error(ErrorCode::kInvalidArgument, "a classifier of " + std::to_string(before) +
                                                 " classes cannot shrink to " +
                                                 std::to_string(classes));
  }
  if (classes == before) return;
  const std::string layer = find_classifier(model);
  resize_classifier(model, classes);
  const Graph graph = build_graph(model, 1);
  const auto node = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                 [&](const Node& n) { return n.name == layer; });
  for (const WeightSpec& spec : node->weights) {
    const std::string name = weight_name(*node, spec);
    NamedTensor grown = initial_weight(spec, name, seed);
    const auto old = weights.find(name);
    if (old == weights.end())
      throw Error(ErrorCode::kBadData, "the model's weights lack \"" + name + "\"");
    if (old->second.data.size() * static_cast<std::size_t>(classes) !=
        grown.data.size() * static_cast<std::size_t>(before)) {
      throw Error(ErrorCode::kBadData, "weight \"" + name + "\" does not have the " +
                                           std::to_string(before) + " rows of its layer");
    }
    std::copy(old->second.data.begin(), old->second.data.end(), grown.data.begin());
    old->second = std::move(grown);
  }
}

}  // namespace moil
