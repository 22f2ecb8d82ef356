#include "engine/kernels/activation.h"

#include <algorithm>

#include "base/error.h"
#include "engine/graph/realizers/insert.h"
#include "engine/graph/realizers/realizers.h"

namespace moil {
namespace {

std::vector<std::string> activations() {
  std::vector<std::string> types = {"softmax"};
  for (const ActivationKind kind : kActivationKinds) types.emplace_back(to_string(kind));
  return types;
}

void check_activation(const std::string& type, const std::string& layer) {
  const auto known = activations();
  if (std::find(known.begin(), known.end(), type) != known.end()) return;
  std::string names = "none";
  for (const auto& name : known) names += ", " + name;
  throw Error(ErrorCode::kInvalidArgument,
              "layer \"" + layer + "\": unknown activation \"" + type + "\"; known: " + names);
}

}  // namespace

ModelDescription realize_activation(const ModelDescription& model) {
  return put_behind(model, "activation", [](LayerDescription& layer) -> std::optional<Follower> {
    if (!layer.properties.contains("activation")) return std::nullopt;
    const std::string type =
        PropertyReader(layer.name, layer.properties).word("activation", "none");
    layer.properties.erase("activation");
    if (type == "none") return std::nullopt;
    check_activation(type, layer.name);
    Follower follower{type};
    // What flattens the layer's result flattens what is now its result.
    if (auto flatten = layer.properties.extract("flatten"); !flatten.empty())
      follower.properties.insert(std::move(flatten));
    return follower;
  });
}

}  // namespace moil
