// Mean of (prediction - target)^2 over all elements, type "mse".
//
// Inputs: prediction, and target of the same dims. Output [1]. The derivative is that of input 0.
// No properties.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_mean_squared_error(const std::string& name,
                                                             const Properties& properties);

}  // namespace moil
