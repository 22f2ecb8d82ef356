#include "engine/model/graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "engine/layers/factory.h"
#include "engine/layers/traits.h"

namespace moil {
namespace {

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorCode::kInvalidArgument, what); }

// Errors of `action` with the layer's name before them.
template <class Action>
void naming(const LayerDescription& layer, const Action& action) {
  try {
    action();
  } catch (const Error& e) {
    throw Error(e.code(), "layer \"" + layer.name + "\" (" + layer.type + "): " + e.what());
  }
}

class GraphBuilder {
 public:
  GraphBuilder(const ModelDescription& description, std::int64_t batch)
      : description_(description) {
    for (const auto& input : description.inputs) {
      graph_.inputs.push_back(add_value(input.name, input_info(input, batch), -1, 0));
    }
  }

  Graph build() {
    for (const auto& layer : topological_order(description_)) add_node(layer);
    if (description_.outputs.empty()) fail("model \"" + description_.name + "\" names no output");
    for (const auto& name : description_.outputs)
      graph_.outputs.push_back(find(name, "the model's outputs"));
    for (const auto& [layer, weight] : borrowed_)
      if (!owned_.contains(weight))
        fail("layer \"" + layer + "\" shares \"" + weight + "\", which no layer has");
    return std::move(graph_);
  }

 private:
  int add_value(const std::string& name, const TensorInfo& info, int producer, int slot) {
    const int id = static_cast<int>(graph_.values.size());
    graph_.values.push_back({name, info, producer, slot, {}});
    values_[name] = id;
    return id;
  }

  int find(const std::string& name, const std::string& where) const {
    const auto it = values_.find(value_name(name));
    if (it == values_.end()) fail(where + ": no layer or input gives \"" + name + "\"");
    return it->second;
  }

  void add_node(const LayerDescription& layer) {
    const int index = static_cast<int>(graph_.nodes.size());
    Node node{layer.name, layer.type, make_layer(layer.type, layer.name, layer.properties),
              {},         {},         {}};
    std::vector<TensorInfo> infos;
    for (const auto& name : layer.inputs) {
      const int id = find(name, "layer \"" + layer.name + "\"");
      graph_.values[static_cast<std::size_t>(id)].consumers.push_back(
          {index, static_cast<int>(node.inputs.size())});
      node.inputs.push_back(id);
      infos.push_back(graph_.values[static_cast<std::size_t>(id)].info);
    }
    naming(layer, [&] {
      check_types(layer, infos);
      node.weights = node.layer->weights(infos);
      name_weights(layer, index, node);
    });
    int slot = 0;
    for (const auto& info : infer_outputs(*node.layer, layer, infos)) {
      const std::string name = slot == 0 ? layer.name : layer.name + ":" + std::to_string(slot);
      node.outputs.push_back(add_value(name, info, index, slot++));
    }
    graph_.nodes.push_back(std::move(node));
  }

  static void check_types(const LayerDescription& layer, const std::vector<TensorInfo>& infos) {
    const LayerTraits& traits = layer_traits(layer.type);
    const bool takes_integers = traits.takes_integers;
    for (const TensorInfo& info : infos) {
      const bool may_be_either = traits.takes_lengths && &info == &infos.back();
      if (!may_be_either && takes_integers != (info.type == ElementType::kInt32))
        fail(std::string("it reads ") + (takes_integers ? "int32" : "float32") +
             ", and its input is " + to_string(info.type));
    }
  }

  // Weights of one full name are one weight.
  void name_weights(const LayerDescription& layer, int index, Node& node) {
    for (const auto& [own, other] : layer.shares) {
      if (std::none_of(node.weights.begin(), node.weights.end(),
                       [&own = own](const WeightSpec& w) { return w.name == own; }))
        fail("it has no weight \"" + own + "\" to share");
      borrowed_.emplace_back(layer.name, other);
    }
    for (std::size_t w = 0; w < node.weights.size(); ++w) {
      WeightSpec& spec = node.weights[w];
      const auto shared = layer.shares.find(spec.name);
      const std::string own = layer.name + "." + spec.name;
      spec.full_name = shared == layer.shares.end() ? own : shared->second;
      if (spec.full_name == own) owned_.insert(own);
      const auto [first, is_new] = first_of_.try_emplace(spec.full_name, std::pair(index, w));
      if (!is_new)
        join(graph_.nodes[static_cast<std::size_t>(first->second.first)], first->second.second,
             spec);
    }
  }

  static void join(Node& first, std::size_t w, WeightSpec& spec) {
    WeightSpec& other = first.weights[w];
    if (!(other.dims == spec.dims) || other.order != spec.order || other.groups != spec.groups ||
        other.trainable != spec.trainable)
      fail("its weight \"" + spec.name + "\" (" + spec.dims.to_string() + ") cannot be \"" +
           spec.full_name + "\" of layer \"" + first.name + "\" (" + other.dims.to_string() + ")");
    if (!spec.trainable) fail("\"" + spec.full_name + "\" is no weight that is trained");
    spec.shared = spec.repeats = other.shared = true;
  }

  const ModelDescription& description_;
  Graph graph_;
  std::map<std::string, int> values_;
  std::map<std::string, std::pair<int, std::size_t>> first_of_;  // by full name: node and weight
  std::set<std::string> owned_;
  std::vector<std::pair<std::string, std::string>> borrowed_;  // layer, full name
};

}  // namespace

std::vector<TensorInfo> Graph::input_infos(const Node& node) const {
  std::vector<TensorInfo> infos;
  for (const int v : node.inputs) infos.push_back(values[static_cast<std::size_t>(v)].info);
  return infos;
}

std::vector<TensorInfo> Graph::output_infos(const Node& node) const {
  std::vector<TensorInfo> infos;
  for (const int v : node.outputs) infos.push_back(values[static_cast<std::size_t>(v)].info);
  return infos;
}

Graph build_graph(const ModelDescription& description, std::int64_t batch) {
  return GraphBuilder(description, batch).build();
}

TensorInfo input_info(const InputDescription& input, std::int64_t batch) {
  std::vector<std::int64_t> dims{batch};
  dims.insert(dims.end(), input.dims.begin(), input.dims.end());
  TensorInfo info{Dims(dims)};
  if (info.dims.rank() == 4) info.layout = Layout::kChannelsLast;
  info.type = input.type;
  return info;
}

std::vector<TensorInfo> infer_outputs(const Layer& layer, const LayerDescription& description,
                                      std::span<const TensorInfo> inputs) {
  std::vector<TensorInfo> outputs;
  naming(description, [&] { outputs = layer.infer_outputs(inputs); });
  return outputs;
}

std::string weight_name(const Node& node, const WeightSpec& weight) {
  return weight.full_name.empty() ? node.name + "." + weight.name : weight.full_name;
}

std::size_t weight_bytes(const Node& node) {
  std::size_t elements = 0;
  for (const WeightSpec& w : node.weights)
    if (!w.repeats) elements += static_cast<std::size_t>(w.dims.elements());
  return elements * sizeof(float);
}

std::size_t weight_bytes(const Graph& graph) {
  std::size_t bytes = 0;
  for (const Node& node : graph.nodes) bytes += weight_bytes(node);
  return bytes;
}

std::pair<std::string, int> split_value_name(const std::string& name) {
  const auto colon = name.rfind(':');
  if (colon == std::string::npos || colon + 1 == name.size() || name.size() - colon > 7 ||
      name.find_first_not_of("0123456789", colon + 1) != std::string::npos) {
    return {name, 0};
  }
  return {name.substr(0, colon), std::stoi(name.substr(colon + 1))};
}

std::string value_name(const std::string& name) {
  auto [layer, slot] = split_value_name(name);
  return slot == 0 ? layer : name;
}

std::vector<LayerDescription> topological_order(const ModelDescription& description) {
  std::set<std::string> inputs;
  for (const auto& input : description.inputs) {
    if (!inputs.insert(input.name).second) fail("input \"" + input.name + "\" is defined twice");
  }
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < description.layers.size(); ++i) {
    const auto& name = description.layers[i].name;
    if (inputs.contains(name) || !index.emplace(name, i).second)
      fail("layer \"" + name + "\" is defined twice");
  }
  std::vector<std::vector<std::size_t>> followers(description.layers.size());
  std::vector<std::size_t> waiting(description.layers.size());
  for (std::size_t i = 0; i < description.layers.size(); ++i) {
    for (const auto& input : description.layers[i].inputs) {
      const std::string source = split_value_name(input).first;
      if (inputs.contains(source) || inputs.contains(input)) continue;
      const auto it = index.find(source);
      if (it == index.end()) {
        fail("layer \"" + description.layers[i].name + "\": no layer or input gives \"" + input +
             "\"");
      }
      followers[it->second].push_back(i);
      ++waiting[i];
    }
  }
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i] == 0) ready.insert(i);
  }
  std::vector<LayerDescription> order;
  while (!ready.empty()) {
    const std::size_t i = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(description.layers[i]);
    for (auto& input : order.back().inputs) input = value_name(input);
    for (const std::size_t f : followers[i]) {
      if (--waiting[f] == 0) ready.insert(f);
    }
  }
  if (order.size() != description.layers.size())
    fail("the layers of model \"" + description.name + "\" form a cycle");
  return order;
}

}  // namespace moil
