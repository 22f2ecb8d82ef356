#include <algorithm>

#include "base/error.h"
#include "engine/graph/graph.h"
#include "engine/graph/realizers/realizers.h"

namespace moil {
namespace {

// The activation that a loss has inside.
bool has_inside(const std::string& loss_type, const std::string& activation) {
  return (loss_type == "softmax_cross_entropy" && activation == "softmax") ||
         (loss_type == "sigmoid_cross_entropy" && activation == "sigmoid");
}

// Makes the only output what feeds the last layer, and drops that where nobody else reads it.
void bypass_activation(ModelDescription& model, const std::string& loss_type) {
  std::string& output = model.outputs[0];
  const auto last = std::find_if(model.layers.begin(), model.layers.end(), [&](const auto& layer) {
    return layer.name == value_name(output);
  });
  if (last == model.layers.end() || last->inputs.size() != 1 || !has_inside(loss_type, last->type))
    return;
  const bool alone = count_readers(model).at(last->name) == 1;
  output = last->inputs[0];
  if (alone) model.layers.erase(last);
}

}  // namespace

ModelDescription realize_loss(const ModelDescription& model, const std::string& loss_type,
                              const std::vector<std::int64_t>& target_dims) {
  if (model.outputs.size() != 1) {
    throw Error(ErrorCode::kInvalidArgument, "training needs a model of one output; \"" +
                                                 model.name + "\" has " +
                                                 std::to_string(model.outputs.size()));
  }
  ModelDescription result = model;
  bypass_activation(result, loss_type);
  result.inputs.push_back({"target", target_dims});
  result.layers.push_back({"loss", loss_type, {result.outputs[0], "target"}, {}});
  result.outputs = {"loss"};
  return result;
}

}  // namespace moil
