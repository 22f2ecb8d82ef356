#include "engine/io/onnx/weight_ties.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/error.h"
#include "engine/model/graph.h"

namespace moil::onnx {
namespace {

class Ties {
 public:
  explicit Ties(ImportedModel& model) : model_(model), graph_(build_graph(model.description, 1)) {}

  void tie(const std::vector<ImportState::Claim>& claims) {
    std::set<std::string> one;  // full names of the weight that all claims have
    for (const std::string& name : weights_of(claims[0]))
      if (has_twin_in_each(claims, name)) one.insert(name);
    if (one.empty())
      throw Error(ErrorCode::kUnimplemented,
                  claims[1].node->label() + ": its weight \"" + claims[1].weight +
                      "\" is that of " + claims[0].node->label() +
                      ", too, in another form; weights that are tied would be trained apart: "
                      "export a copy for each if they may be");
    for (const std::string& name : one) share(claims, name);
  }

 private:
  // Names as they are by now.
  std::set<std::string> weights_of(const ImportState::Claim& claim) const {
    std::set<std::string> names;
    for (const auto& node : graph_.nodes) {
      if (std::find(claim.layers.begin(), claim.layers.end(), node.name) == claim.layers.end())
        continue;
      for (const WeightSpec& spec : node.weights)
        if (spec.trainable) names.insert(name_now(spec.full_name));
    }
    return names;
  }

  std::string name_now(std::string name) const {
    for (auto it = kept_.find(name); it != kept_.end(); it = kept_.find(name)) name = it->second;
    return name;
  }

  bool are_twins(const std::string& a, const std::string& b) const {
    const NamedTensor &x = model_.weights.at(a), &y = model_.weights.at(b);
    return x.dims == y.dims && x.data == y.data;
  }

  bool has_twin_in_each(const std::vector<ImportState::Claim>& claims,
                        const std::string& name) const {
    return std::all_of(claims.begin() + 1, claims.end(), [&](const ImportState::Claim& claim) {
      const auto others = weights_of(claim);
      return std::any_of(others.begin(), others.end(), [&](const std::string& other) {
        return other == name || are_twins(name, other);
      });
    });
  }

  // The first layer of the model that has it keeps it.
  void share(const std::vector<ImportState::Claim>& claims, const std::string& name) {
    if (!model_.weights.contains(name)) return;  // a layer's two weights were the same
    const NamedTensor weight = model_.weights.at(name);
    std::set<std::string> layers;
    for (const ImportState::Claim& claim : claims)
      layers.insert(claim.layers.begin(), claim.layers.end());
    std::string kept;
    for (const auto& node : graph_.nodes) {
      if (!layers.contains(node.name)) continue;
      for (const WeightSpec& spec : node.weights) {
        const auto other = model_.weights.find(spec.full_name);
        if (!spec.trainable || other == model_.weights.end() || other->second.dims != weight.dims ||
            other->second.data != weight.data)
          continue;
        if (kept.empty()) {
          kept = spec.full_name;
          continue;
        }
        layer(node.name).shares[spec.name] = kept_[spec.full_name] = kept;
        model_.weights.erase(spec.full_name);
      }
    }
  }

  LayerDescription& layer(const std::string& name) {
    return *std::find_if(model_.description.layers.begin(), model_.description.layers.end(),
                         [&](const LayerDescription& l) { return l.name == name; });
  }

  ImportedModel& model_;
  const moil::Graph graph_;                  // before any tie
  std::map<std::string, std::string> kept_;  // by the full names that are gone
};

}  // namespace

void tie_weights(const std::vector<std::vector<ImportState::Claim>>& ties, ImportedModel& model) {
  if (ties.empty()) return;
  Ties tied(model);
  for (const auto& claims : ties) tied.tie(claims);
}

}  // namespace moil::onnx
