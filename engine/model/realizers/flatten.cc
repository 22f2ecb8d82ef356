#include <map>
#include <set>

#include "base/error.h"
#include "engine/layers/factory.h"
#include "engine/model/graph.h"
#include "engine/model/realizers/insert.h"
#include "engine/model/realizers/realizers.h"

namespace moil {
namespace {

ModelDescription flatten_where_asked(const ModelDescription& model) {
  return put_behind(model, "flatten", [](LayerDescription& layer) -> std::optional<Follower> {
    if (!layer.properties.contains("flatten")) return std::nullopt;
    const bool flatten = PropertyReader(layer.name, layer.properties).flag("flatten", false);
    layer.properties.erase("flatten");
    if (!flatten) return std::nullopt;
    return Follower{"flatten"};
  });
}

TensorInfo flattened(const TensorInfo& info) {
  return {Dims{info.dims[0], info.dims.elements_per_sample()}};
}

using Shapes = std::map<std::string, TensorInfo>;

const TensorInfo& shape_of(const Shapes& shapes, const std::string& value,
                           const std::string& reader) {
  const auto it = shapes.find(value);
  if (it != shapes.end()) return it->second;
  throw Error(ErrorCode::kInvalidArgument,
              "layer \"" + reader + "\": no layer or input gives \"" + value + "\"");
}

// The fully connected layers that read images.
std::set<std::string> readers_of_images(const ModelDescription& model) {
  std::set<std::string> readers;
  Shapes shapes;
  for (const auto& input : model.inputs) shapes[input.name] = input_info(input, 1);
  for (const LayerDescription& layer : topological_order(model)) {
    std::vector<TensorInfo> infos;
    for (const auto& input : layer.inputs) {
      infos.push_back(shape_of(shapes, input, layer.name));
      if (!layer_traits(layer.type).takes_rows || infos.back().layout != Layout::kChannelsLast)
        continue;
      readers.insert(layer.name);
      infos.back() = flattened(infos.back());
    }
    const auto built = make_layer(layer.type, layer.name, layer.properties);
    int slot = 0;
    for (const TensorInfo& info : infer_outputs(*built, layer, infos))
      shapes[layer.name + (slot == 0 ? "" : ":" + std::to_string(slot))] = info, ++slot;
  }
  return readers;
}

}  // namespace

ModelDescription realize_flatten(const ModelDescription& model) {
  ModelDescription asked = flatten_where_asked(model);
  const auto readers = readers_of_images(asked);
  ModelDescription result = asked;
  result.layers.clear();
  FreshNames names(asked);
  for (LayerDescription& layer : asked.layers) {
    if (readers.contains(layer.name)) {
      const std::string name = names.take(layer.name + "/flattened_input");
      result.layers.push_back({name, "flatten", layer.inputs, {}});
      layer.inputs = {name};
    }
    result.layers.push_back(std::move(layer));
  }
  return result;
}

}  // namespace moil
