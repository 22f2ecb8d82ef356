// The realizers that drop layers and count readers.
#include <algorithm>

#include "engine/layers/traits.h"
#include "engine/model/graph.h"
#include "engine/model/realizers/insert.h"
#include "engine/model/realizers/realizers.h"

namespace moil {
namespace {

bool is_input(const ModelDescription& model, const std::string& name) {
  return std::any_of(model.inputs.begin(), model.inputs.end(),
                     [&](const InputDescription& input) { return input.name == name; });
}

}  // namespace

std::map<std::string, int> count_readers(const ModelDescription& model) {
  std::map<std::string, int> readers;
  for (const auto& layer : model.layers) {
    for (const auto& input : layer.inputs) ++readers[value_name(input)];
  }
  for (const auto& output : model.outputs) ++readers[value_name(output)];
  return readers;
}

ModelDescription realize_pruning(const ModelDescription& model) {
  ModelDescription result = model;
  result.layers = topological_order(model);
  for (auto& output : result.outputs) output = value_name(output);
  std::set<std::string> needed;
  for (const auto& output : model.outputs) needed.insert(split_value_name(output).first);
  for (auto it = result.layers.rbegin(); it != result.layers.rend(); ++it) {
    if (!needed.contains(it->name)) continue;
    for (const auto& input : it->inputs) needed.insert(split_value_name(input).first);
  }
  std::erase_if(result.layers, [&](const LayerDescription& l) { return !needed.contains(l.name); });
  return result;
}

ModelDescription realize_inference(const ModelDescription& model) {
  ModelDescription result = model;
  result.layers.clear();
  std::map<std::string, std::string> instead;
  const auto resolve = [&](std::string& name) {
    if (const auto it = instead.find(name); it != instead.end()) name = it->second;
  };
  for (LayerDescription layer : topological_order(model)) {
    for (auto& input : layer.inputs) resolve(input);
    if (layer_traits(layer.type).vanishes_in_inference) {
      instead[layer.name] = layer.inputs.at(0);
    } else {
      result.layers.push_back(std::move(layer));
    }
  }
  for (auto& output : result.outputs) resolve(output = value_name(output));
  return result;
}

ModelDescription realize_frozen(const ModelDescription& model,
                                const std::set<std::string>& trainable_layers) {
  ModelDescription result = model;
  for (auto& layer : result.layers) {
    if (layer_traits(layer.type).normalises_over_batch && !trainable_layers.contains(layer.name))
      layer.properties["frozen"] = true;
  }
  return result;
}

namespace {

// Values of more readers go from one reader to the next.
constexpr int kReadersAtOnce = 4;

LayerDescription multi_out(const std::string& name, const std::string& value, int outputs) {
  return {name, "multi_out", {value}, {{"outputs", std::int64_t{outputs}}}};
}

// A value of many readers: before each but the last stands a multi_out for it and for those behind
// it. So backward adds each derivative when it comes, and they do not wait for each other.
class Chain {
 public:
  Chain() = default;
  Chain(std::string value, int readers) : value_(value), next_(std::move(value)), left_(readers) {}

  std::string take(FreshNames& names, std::vector<LayerDescription>& layers) {
    if (--left_ == 0) return next_;
    layers.push_back(multi_out(names.take(value_ + "/multi_out"), next_, 2));
    next_ = layers.back().name + ":1";
    return layers.back().name;
  }

 private:
  std::string value_, next_;
  int left_ = 0;
};

}  // namespace

ModelDescription realize_multi_out(const ModelDescription& model) {
  ModelDescription result = model;
  result.layers.clear();
  const auto readers = count_readers(model);
  // Inputs carry no derivative: reading one twice needs no summing.
  std::map<std::string, int> next;                       // shared value -> next free output
  std::map<std::string, std::vector<std::string>> fans;  // layer -> its shared values
  std::map<std::string, std::string> sharers;            // shared value -> its multi_out
  std::map<std::string, Chain> chains;
  FreshNames names(model);
  for (const auto& [value, count] : readers) {
    if (count == 1 || is_input(model, value)) continue;
    if (count > kReadersAtOnce) {
      chains[value] = Chain(value, count);
      continue;
    }
    next[value] = 0;
    sharers[value] = names.take(value + "/multi_out");
    fans[split_value_name(value).first].push_back(value);
  }
  const auto rewire = [&](std::string& value) {
    value = value_name(value);
    if (const auto chain = chains.find(value); chain != chains.end())
      value = chain->second.take(names, result.layers);
    const auto it = next.find(value);
    if (it == next.end()) return;
    const int slot = it->second++;
    value = sharers.at(value) + (slot == 0 ? std::string() : ":" + std::to_string(slot));
  };
  for (LayerDescription layer : topological_order(model)) {
    for (auto& input : layer.inputs) rewire(input);
    const std::string name = layer.name;
    result.layers.push_back(std::move(layer));
    for (const auto& value : fans[name])
      result.layers.push_back(multi_out(sharers.at(value), value, readers.at(value)));
  }
  for (auto& output : result.outputs) rewire(output);
  return result;
}

}  // namespace moil
