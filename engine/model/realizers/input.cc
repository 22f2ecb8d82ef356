#include "base/error.h"
#include "engine/model/realizers/insert.h"
#include "engine/model/realizers/realizers.h"

namespace moil {
namespace {

[[noreturn]] void fail(const LayerDescription& layer, const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument,
              "layer \"" + layer.name + "\": property \"input_shape\" " + what);
}

std::vector<std::int64_t> shape_of(const LayerDescription& layer) {
  const Property& property = layer.properties.at("input_shape");
  std::vector<std::int64_t> dims;
  if (const auto* one = std::get_if<std::int64_t>(&property)) dims = {*one};
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&property)) dims = *list;
  bool good = !dims.empty() && dims.size() <= 5;
  for (const std::int64_t dim : dims) good = good && dim >= 1;
  if (!good) fail(layer, "must be 1 to 5 dimensions of one sample, without the batch");
  return dims;
}

}  // namespace

ModelDescription realize_inputs(const ModelDescription& model) {
  ModelDescription result = model;
  FreshNames names(model);
  for (LayerDescription& layer : result.layers) {
    if (!layer.properties.contains("input_shape")) continue;
    if (!layer.inputs.empty()) fail(layer, "is for a layer that names no input");
    const std::string name = names.take(layer.name + "/input");
    result.inputs.push_back({name, shape_of(layer)});
    layer.inputs = {name};
    layer.properties.erase("input_shape");
  }
  return result;
}

}  // namespace moil
