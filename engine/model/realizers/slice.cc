#include <algorithm>
#include <map>

#include "base/error.h"
#include "engine/model/graph.h"
#include "engine/model/realizers/realizers.h"

namespace moil {
namespace {

// What the head may read from before the cut is the split alone.
void check_head(const ModelDescription& model, const ModelDescription& head,
                const std::set<std::string>& behind, const std::string& split) {
  const auto check = [&](const std::string& value, const std::string& reader) {
    const std::string source = split_value_name(value).first;
    const bool is_input =
        std::any_of(model.inputs.begin(), model.inputs.end(),
                    [&](const InputDescription& input) { return input.name == source; });
    if (value == split || (!is_input && !behind.contains(source))) return;
    throw Error(ErrorCode::kInvalidArgument, "the model cannot be cut at \"" + split +
                                                 "\": " + reader + " behind it also reads \"" +
                                                 value + "\"");
  };
  for (const auto& layer : head.layers) {
    for (const auto& input : layer.inputs) check(input, "layer \"" + layer.name + "\"");
  }
  for (const auto& output : head.outputs) check(output, "the model's output");
}

// A weight that the backbone keeps as it is cannot be one that the head trains.
void check_weights_apart(const ModelDescription& backbone, const ModelDescription& head,
                         const std::string& split) {
  if (std::ranges::all_of(head.layers, &std::map<std::string, std::string>::empty,
                          &LayerDescription::shares))
    return;
  std::map<std::string, std::string> layer_of;  // by full name
  for (const Node& node : build_graph(backbone, 1).nodes)
    for (const WeightSpec& spec : node.weights) layer_of[spec.full_name] = node.name;
  for (const LayerDescription& layer : head.layers) {
    for (const auto& [own, full] : layer.shares) {
      const auto it = layer_of.find(full);
      if (it != layer_of.end())
        throw Error(ErrorCode::kInvalidArgument,
                    "the model cannot be cut at \"" + split + "\": layers \"" + it->second +
                        "\" before it and \"" + layer.name + "\" behind it share a weight");
    }
  }
}

}  // namespace

Slices realize_slice(const ModelDescription& model, const std::string& split,
                     const std::vector<std::int64_t>& split_dims) {
  ModelDescription upto = model;
  upto.outputs = {split};
  const ModelDescription backbone = realize_pruning(upto);
  std::set<std::string> behind;
  for (const auto& layer : backbone.layers) behind.insert(layer.name);

  ModelDescription head = realize_pruning(model);
  head.inputs = {{split, split_dims}};
  std::erase_if(head.layers, [&](const LayerDescription& l) { return behind.contains(l.name); });
  check_head(model, head, behind, split);
  check_weights_apart(backbone, head, split);
  return {backbone, head};
}

}  // namespace moil
