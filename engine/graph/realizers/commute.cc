#include "engine/graph/graph.h"
#include "engine/graph/realizers/realizers.h"

namespace moil {
namespace {

// Rises with its argument and is flat only where its derivative is 0: the maximum of the activated
// values is the activated maximum, and the derivative reaches the same element or is 0.
bool commutes_with_maximum(const LayerDescription& layer) {
  return layer.type == "relu" || layer.type == "relu6";
}

}  // namespace

ModelDescription realize_pooling_first(const ModelDescription& model) {
  ModelDescription result = model;
  result.layers = topological_order(model);
  const auto readers = count_readers(model);
  std::map<std::string, std::size_t> index;
  std::set<std::string> moved;
  std::map<std::string, std::string> instead;  // what read the pooling now reads the activation
  for (std::size_t i = 0; i < result.layers.size(); ++i) {
    LayerDescription& pool = result.layers[i];
    for (auto& input : pool.inputs) {
      if (const auto it = instead.find(input); it != instead.end()) input = it->second;
    }
    index[pool.name] = i;
    if (pool.type != "max_pool" || pool.inputs.size() != 1) continue;
    const auto source = index.find(pool.inputs[0]);
    if (source == index.end()) continue;
    LayerDescription& activation = result.layers[source->second];
    if (!commutes_with_maximum(activation) || readers.at(activation.name) != 1 ||
        moved.contains(activation.name))
      continue;
    const std::string pool_name = pool.name, activation_name = activation.name;
    pool.inputs[0] = activation.inputs[0];
    activation.inputs[0] = pool_name;
    std::swap(pool, activation);
    index[pool_name] = source->second;
    index[activation_name] = i;
    instead[pool_name] = activation_name;
    moved.insert(activation_name);
  }
  for (auto& output : result.outputs) {
    if (const auto it = instead.find(output); it != instead.end()) output = it->second;
  }
  return result;
}

}  // namespace moil
