#include "engine/layers/traits.h"
#include "engine/model/graph.h"
#include "engine/model/realizers/realizers.h"

namespace moil {
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
    if (!layer_traits(pool.type).takes_maximum || pool.inputs.size() != 1) continue;
    const auto source = index.find(pool.inputs[0]);
    if (source == index.end()) continue;
    LayerDescription& activation = result.layers[source->second];
    if (!layer_traits(activation.type).commutes_with_maximum || readers.at(activation.name) != 1 ||
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
