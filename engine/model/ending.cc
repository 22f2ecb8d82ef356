#include "engine/model/ending.h"

#include <map>

#include "base/error.h"
#include "engine/layers/traits.h"
#include "engine/model/graph.h"

namespace moil {
namespace {

using LayersByName = std::map<std::string, const LayerDescription*>;

LayersByName by_name(const ModelDescription& model) {
  LayersByName layers;
  for (const LayerDescription& layer : model.layers) layers[layer.name] = &layer;
  return layers;
}

// The layer that computes a value from one other; null if there is none.
const LayerDescription* layer_behind(const LayersByName& layers, const std::string& value) {
  const auto it = layers.find(value_name(value));
  return it == layers.end() || it->second->inputs.size() != 1 ? nullptr : it->second;
}

// A softmax over all numbers of a sample, as a classifier's is.
bool is_over_classes(const ModelDescription& model, const LayerDescription& softmax) {
  const Graph graph = build_graph(model, 1);
  for (const Node& node : graph.nodes) {
    if (node.name != softmax.name) continue;
    const TensorInfo& info = graph.values[static_cast<std::size_t>(node.outputs[0])].info;
    const std::int64_t classes =
        info.layout == Layout::kChannelsLast ? info.dims[1] : info.dims.back();
    return classes == info.dims.elements_per_sample();
  }
  return false;
}

}  // namespace

ModelEnding ending_of(const ModelDescription& model) {
  if (model.outputs.size() != 1) return {};
  const LayersByName layers = by_name(model);
  bool moved_alone = true;
  for (const LayerDescription* layer = layer_behind(layers, model.outputs[0]); layer != nullptr;
       layer = layer_behind(layers, layer->inputs[0])) {
    const LayerTraits& traits = layer_traits(layer->type);
    if (traits.probabilities != Probabilities::kNone) {
      Ending kind = Ending::kOther;
      if (moved_alone && traits.probabilities == Probabilities::kOfEach) kind = Ending::kSigmoid;
      if (moved_alone && traits.probabilities == Probabilities::kOfClasses &&
          is_over_classes(model, *layer))
        kind = Ending::kSoftmax;
      return {kind, layer->name};
    }
    if (!traits.takes_one_input || traits.owns_weights) return {};
    moved_alone = moved_alone && traits.only_moves;
  }
  return {};
}

void check_ending(const ModelDescription& model) {
  const ModelEnding ending = ending_of(model);
  if (ending.kind != Ending::kOther) return;
  throw Error(ErrorCode::kUnimplemented,
              "the model's output is computed of probabilities that layer \"" + ending.layer +
                  "\" makes, in a way that no loss trains; export the model so that it ends in "
                  "logits, in a softmax over its classes or in a sigmoid");
}

bool answers_probabilities(const ModelDescription& model) {
  const Ending kind = ending_of(model).kind;
  return kind == Ending::kSoftmax || kind == Ending::kSigmoid;
}

LossDescription fitting_loss(const ModelDescription& model) {
  if (ending_of(model).kind != Ending::kSigmoid) return {"softmax_cross_entropy"};
  return {"sigmoid_cross_entropy", {{"reduction", std::string("sum")}}};
}

}  // namespace moil
