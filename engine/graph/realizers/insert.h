// What realizers share that put layers behind others.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/graph/model_description.h"

namespace moil {

// The type and properties of a layer that is to stand behind another.
struct Follower {
  std::string type;
  Properties properties = {};
};

// Asks `follower` of every layer, which may also change the layer's properties, and puts what it
// answers behind it as "LAYER/SUFFIX": whatever read the layer reads that. The layers' order stays.
// Throws kInvalidArgument where a follower's layer has a second output that is read.
[[nodiscard]] ModelDescription put_behind(
    const ModelDescription& model, const std::string& suffix,
    const std::function<std::optional<Follower>(LayerDescription&)>& follower);

}  // namespace moil
