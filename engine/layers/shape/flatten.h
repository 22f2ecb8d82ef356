// [N, C, H, W] -> [N, C * H * W] in that order, type "flatten".
//
// The same data if that is its order in memory: C or H * W is 1, or the input is no image.
// Otherwise a transposing copy. No properties.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_flatten(const std::string& name,
                                                  const Properties& properties);

}  // namespace moil
