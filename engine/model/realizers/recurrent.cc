#include <algorithm>

#include "base/error.h"
#include "base/index.h"
#include "engine/layers/lengths.h"
#include "engine/model/graph.h"
#include "engine/model/realizers/insert.h"
#include "engine/model/realizers/realizers.h"

namespace moil {
namespace {

bool takes_unrolling(const LayerDescription& layer) {
  return layer.type == "rnn" || layer.type == "lstm" || layer.type == "gru";
}

bool is_unrolled(const LayerDescription& layer) {
  return takes_unrolling(layer) &&
         PropertyReader(layer.name, layer.properties).flag("unroll", false);
}

// One layer as its cells, one a step.
class Unrolling {
 public:
  Unrolling(const LayerDescription& layer, const Node& node, std::int64_t length, FreshNames& names)
      : layer_(layer), node_(node), length_(length), names_(names) {
    PropertyReader reader(layer.name, layer.properties);
    reverse_ = reader.flag("reverse", false);
    sequence_ = reader.flag("sequence", true);
  }

  // instead: the values that take the place of the layer's own.
  void write(std::vector<LayerDescription>& layers, std::map<std::string, std::string>& instead) {
    const std::string parts = names_.take(layer_.name + "/parts");
    layers.push_back({parts, "unstack", {layer_.inputs[0]}, {}});
    std::vector<std::string> cells;
    for (std::int64_t place = 0; place < length_; ++place) {
      layers.push_back(cell(place, parts, cells));
      cells.push_back(layers.back().name);
    }
    const std::string last = cells.back();
    if (sequence_) {
      if (reverse_) std::reverse(cells.begin(), cells.end());
      const std::string steps = names_.take(layer_.name + "/steps");
      layers.push_back({steps, "stack", cells, {}});
      instead[layer_.name] = steps;
    } else {
      instead[layer_.name] = last;
    }
    for (std::size_t state = 0; state < states(); ++state)
      instead[value_of(layer_.name, 1 + state)] = value_of(last, state);
  }

 private:
  static std::string value_of(const std::string& layer, std::size_t slot) {
    return slot == 0 ? layer : layer + ":" + std::to_string(slot);
  }
  std::size_t states() const { return layer_.type == "lstm" ? 2 : 1; }

  // The first has the layer's name, and so its weights; the others share them.
  LayerDescription cell(std::int64_t place, const std::string& parts,
                        const std::vector<std::string>& before) {
    const std::int64_t step = reverse_ ? length_ - 1 - place : place;
    LayerDescription cell;
    cell.type = layer_.type + "_cell";
    cell.properties = layer_.properties;
    for (const char* whole : {"unroll", "reverse", "sequence", "state"})
      cell.properties.erase(whole);
    cell.inputs = {value_of(parts, at(step))};
    if (place == 0) {
      cell.name = layer_.name;
      cell.shares = layer_.shares;
      cell.inputs.insert(cell.inputs.end(), layer_.inputs.begin() + 1, layer_.inputs.end());
      return cell;
    }
    cell.name = names_.take(layer_.name + "/" + std::to_string(place));
    for (std::size_t state = 0; state < states(); ++state)
      cell.inputs.push_back(value_of(before.back(), state));
    for (const WeightSpec& weight : node_.weights) cell.shares[weight.name] = weight.full_name;
    return cell;
  }

  const LayerDescription& layer_;
  const Node& node_;
  const std::int64_t length_;
  FreshNames& names_;
  bool reverse_ = false, sequence_ = true;
};

}  // namespace

ModelDescription realize_recurrent(const ModelDescription& model) {
  if (std::none_of(model.layers.begin(), model.layers.end(), is_unrolled)) return model;
  const Graph graph = build_graph(model, 1);
  std::map<std::string, std::string> instead;
  FreshNames names(model);
  ModelDescription result = model;
  result.layers.clear();
  std::vector<std::size_t> readers;  // of the model's own values
  for (const LayerDescription& layer : model.layers) {
    if (!is_unrolled(layer)) {
      result.layers.push_back(layer);
      readers.push_back(result.layers.size() - 1);
      continue;
    }
    const auto node = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                   [&](const Node& n) { return n.name == layer.name; });
    if (has_lengths(graph.input_infos(*node)))
      throw Error(ErrorCode::kInvalidArgument,
                  "layer \"" + layer.name + "\": sequences of several lengths cannot be unrolled");
    const std::size_t first = result.layers.size();
    Unrolling(layer, *node, graph.input_infos(*node)[0].dims[1], names)
        .write(result.layers, instead);
    readers.push_back(first);      // takes the sequence apart
    readers.push_back(first + 1);  // the first cell, which takes given states
  }
  const auto rewire = [&](std::string& value) {
    if (const auto it = instead.find(value_name(value)); it != instead.end()) value = it->second;
  };
  for (const std::size_t reader : readers)
    for (std::string& input : result.layers[reader].inputs) rewire(input);
  for (std::string& output : result.outputs) rewire(output);
  return result;
}

}  // namespace moil
