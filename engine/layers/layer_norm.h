// Normalisation over the last axis: y = (x - mean) / sqrt(variance + epsilon) * gamma + beta.
//
// Properties: epsilon (1e-5), affine (true). Weights, if affine: "gamma" and "beta" [F]. Any
// rank from 2 on, plain layout. The mean and the inverse deviation of every row are kept from F on.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_layer_norm(const std::string& name,
                                                     const Properties& properties);

}  // namespace moil
