// Layers by type name. Each layer's file offers a maker; the table in factory.cc lists them with
// their traits, and is the only place that lists types.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"
#include "engine/layers/traits.h"

namespace moil {

// Reads the properties (PropertyReader, done() at the end) and builds the layer.
// Throws kInvalidArgument naming the layer.
using LayerMaker =
    std::function<std::unique_ptr<Layer>(const std::string& name, const Properties& properties)>;

// Throws kInvalidArgument for an unknown type, with the known ones.
[[nodiscard]] std::unique_ptr<Layer> make_layer(std::string_view type, const std::string& name,
                                                const Properties& properties);

// Adds or replaces a type, for users' own layers. Not thread-safe: before the first graph is built.
void register_layer(const std::string& type, LayerMaker maker, const LayerTraits& traits = {});

std::vector<std::string> layer_types();

}  // namespace moil
