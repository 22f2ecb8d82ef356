#include <algorithm>
#include <array>
#include <string_view>

#include "engine/graph/realizers/insert.h"
#include "engine/graph/realizers/realizers.h"
#include "engine/kernels/activation.h"

namespace moil {
namespace {

// Of the built-in types. A layer of the user's own may take what it likes.
bool takes_one_input(const std::string& type) {
  static constexpr std::array<std::string_view, 24> kTypes = {"add_parameter",
                                                              "average_pool",
                                                              "batch_norm",
                                                              "clip",
                                                              "conv2d",
                                                              "dropout",
                                                              "flatten",
                                                              "fully_connected",
                                                              "global_average_pool",
                                                              "identity",
                                                              "layer_norm",
                                                              "log_softmax",
                                                              "max_pool",
                                                              "multi_out",
                                                              "multiply_parameter",
                                                              "pad",
                                                              "permute",
                                                              "prelu",
                                                              "prepend_parameter",
                                                              "reciprocal",
                                                              "reshape",
                                                              "scale",
                                                              "slice",
                                                              "softmax"};
  if (std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end()) return true;
  return std::any_of(kActivationKinds.begin(), kActivationKinds.end(),
                     [&](ActivationKind kind) { return to_string(kind) == type; });
}

}  // namespace

ModelDescription realize_concat(const ModelDescription& model) {
  ModelDescription result = model;
  result.layers.clear();
  FreshNames names(model);
  for (LayerDescription layer : model.layers) {
    if (layer.inputs.size() > 1 && takes_one_input(layer.type)) {
      const std::string name = names.take(layer.name + "/concat");
      result.layers.push_back({name, "concat", layer.inputs, {}});
      layer.inputs = {name};
    }
    result.layers.push_back(std::move(layer));
  }
  return result;
}

}  // namespace moil
