#include "engine/layers/traits.h"
#include "engine/model/realizers/insert.h"
#include "engine/model/realizers/realizers.h"

namespace moil {

ModelDescription realize_concat(const ModelDescription& model) {
  ModelDescription result = model;
  result.layers.clear();
  FreshNames names(model);
  for (LayerDescription layer : model.layers) {
    if (layer.inputs.size() > 1 && layer_traits(layer.type).takes_one_input) {
      const std::string name = names.take(layer.name + "/concat");
      result.layers.push_back({name, "concat", layer.inputs, {}});
      layer.inputs = {name};
    }
    result.layers.push_back(std::move(layer));
  }
  return result;
}

}  // namespace moil
