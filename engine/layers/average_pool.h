// Mean over windows of an image, type "average_pool".
//
// Properties: as max_pool's, and count_include_pad = true (padding counts in the divisor).
// Backward reads only the derivative.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_average_pool(const std::string& name,
                                                       const Properties& properties);

}  // namespace moil
