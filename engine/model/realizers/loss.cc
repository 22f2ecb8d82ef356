#include <algorithm>

#include "base/error.h"
#include "engine/model/ending.h"
#include "engine/model/graph.h"
#include "engine/model/realizers/insert.h"
#include "engine/model/realizers/realizers.h"

namespace moil {
namespace {

// Whether the loss has inside what makes the model's probabilities.
bool has_inside(const std::string& loss_type, Ending ending) {
  return (loss_type == "softmax_cross_entropy" && ending == Ending::kSoftmax) ||
         (loss_type == "sigmoid_cross_entropy" && ending == Ending::kSigmoid);
}

// What read the probabilities reads what they are made of; their layer goes if nobody else reads
// it.
void bypass_probabilities(ModelDescription& model, const std::string& probabilities) {
  const auto layer = std::find_if(model.layers.begin(), model.layers.end(),
                                  [&](const auto& l) { return l.name == probabilities; });
  const std::string logits = layer->inputs[0];
  // From the output back: each layer on the way there reads one value.
  std::string* reads = &model.outputs[0];
  while (value_name(*reads) != probabilities) {
    const auto reader = std::find_if(model.layers.begin(), model.layers.end(),
                                     [&](const auto& l) { return l.name == value_name(*reads); });
    reads = &reader->inputs[0];
  }
  *reads = logits;
  if (!count_readers(model).contains(probabilities)) model.layers.erase(layer);
}

}  // namespace

ModelDescription realize_loss(const ModelDescription& model, const std::string& loss_type,
                              const std::vector<std::int64_t>& target_dims) {
  return realize_loss(model, LossDescription{loss_type}, target_dims);
}

ModelDescription realize_loss(const ModelDescription& model, const LossDescription& loss,
                              const std::vector<std::int64_t>& target_dims) {
  if (model.outputs.size() != 1) {
    throw Error(ErrorCode::kInvalidArgument, "training needs a model of one output; \"" +
                                                 model.name + "\" has " +
                                                 std::to_string(model.outputs.size()));
  }
  ModelDescription result = model;
  const ModelEnding ending = ending_of(model);
  if (has_inside(loss.type, ending.kind)) bypass_probabilities(result, ending.layer);
  FreshNames names(model);
  const std::string target = names.take("target"), output = names.take("loss");
  result.inputs.push_back({target, target_dims});
  result.layers.push_back({output, loss.type, {result.outputs[0], target}, loss.properties});
  result.outputs = {output};
  return result;
}

}  // namespace moil
