#include "base/error.h"
#include "engine/graph/graph.h"
#include "engine/graph/realizers/realizers.h"

namespace moil {

Slices realize_slice(const ModelDescription& model, const std::string& split,
                     const std::vector<std::int64_t>& split_dims) {
  ModelDescription upto = model;
  upto.outputs = {split};
  const ModelDescription backbone = realize_pruning(upto);
  std::set<std::string> behind;
  for (const auto& layer : backbone.layers) behind.insert(layer.name);

  ModelDescription head = model;
  head.inputs = {{split, split_dims}};
  head.layers.clear();
  for (const auto& layer : topological_order(model)) {
    if (behind.contains(layer.name)) continue;
    for (const auto& input : layer.inputs) {
      if (behind.contains(split_value_name(input).first) && input != split) {
        throw Error(ErrorCode::kInvalidArgument, "the model cannot be cut at \"" + split +
                                                     "\": layer \"" + layer.name +
                                                     "\" behind it also reads \"" + input + "\"");
      }
    }
    head.layers.push_back(layer);
  }
  return {backbone, realize_pruning(head)};
}

}  // namespace moil
