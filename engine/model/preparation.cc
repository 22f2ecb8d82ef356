#include "engine/model/preparation.h"

#include "engine/model/ending.h"
#include "engine/model/graph.h"
#include "engine/model/realizers/realizers.h"

namespace moil {

ModelDescription complete_model(const ModelDescription& model) {
  return realize_recurrent(
      realize_flatten(realize_concat(realize_activation(realize_inputs(model)))));
}

ModelDescription prepare_training(const ModelDescription& model, const std::string& loss_type,
                                  const std::set<std::string>& trainable_layers) {
  return prepare_training(model, LossDescription{loss_type}, trainable_layers);
}

ModelDescription prepare_training(const ModelDescription& model, const LossDescription& loss,
                                  const std::set<std::string>& trainable_layers) {
  const ModelDescription pruned = realize_frozen(
      realize_pooling_first(complete_model(realize_pruning(model))), trainable_layers);
  const Graph graph = build_graph(pruned, 1);
  const auto dims = graph.values[static_cast<std::size_t>(graph.outputs.at(0))].info.dims.values();
  return realize_multi_out(realize_loss(pruned, loss, {dims.begin() + 1, dims.end()}));
}

ModelDescription prepare_inference(const ModelDescription& model, WeightMap& weights) {
  return realize_activation_fusion(realize_batch_norm_folding(
      realize_inference(complete_model(realize_pruning(model))), weights));
}

ModelDescription prepare_inference(const ModelDescription& model) {
  return realize_activation_fusion(
      realize_batch_norm_folding(realize_inference(complete_model(realize_pruning(model)))));
}

std::set<std::string> trainable_weights(const ModelDescription& model,
                                        const std::set<std::string>* layers) {
  std::set<std::string> names;
  for (const Node& node : build_graph(complete_model(realize_pruning(model)), 1).nodes) {
    if (layers && !layers->contains(node.name)) continue;
    for (const WeightSpec& w : node.weights) {
      if (w.trainable) names.insert(weight_name(node, w));
    }
  }
  return names;
}

}  // namespace moil
