#include "base/error.h"
#include "engine/layers/factory.h"
#include "engine/model/realizers/insert.h"
#include "engine/model/realizers/realizers.h"

namespace moil {
namespace {

void check_activation(const std::string& type, const std::string& layer) {
  if (layer_traits(type).is_activation) return;
  std::string names = "none";
  for (const auto& known : layer_types())
    if (layer_traits(known).is_activation) names += ", " + known;
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
