#include "daemon/night/plan/training_method.h"

#include <string_view>

#include "engine/model/graph.h"
#include "engine/model/surgery.h"

namespace moil::night {

std::set<std::string> selection_of(daemon::TrainingMethod method, const ModelDescription& head,
                                   const std::set<std::string>& trainable_layers) {
  if (method == daemon::TrainingMethod::kFull) return {};
  const std::string classifier = find_classifier(head);
  const auto learns = [&](const Node& node, std::string_view weight) {
    if (node.name == classifier) return true;
    const bool small = weight == "bias" || weight == "gamma" || weight == "beta";
    return method == daemon::TrainingMethod::kBnBias && small;
  };
  std::set<std::string> selection;
  for (const Node& node : build_graph(head, 1).nodes) {
    if (!trainable_layers.contains(node.name)) continue;
    for (const WeightSpec& spec : node.weights) {
      if (spec.trainable && learns(node, spec.name)) selection.insert(weight_name(node, spec));
    }
  }
  return selection;
}

}  // namespace moil::night
