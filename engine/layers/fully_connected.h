// Fully connected: y = x W^T + b. [N, F] to [N, units], or over the last axis: [N, ..., F] to
// [N, ..., units].
//
// Properties: units, bias (true), activation ("none", "relu", "relu6": fused, for inference only).
// Weights: "weight" [units, F] and "bias" [units]. In inference plans the weights are packed once,
// into a saved tensor, and a sample's result does not depend on its batch. The input lives until CG
// only if the weight itself trains.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

// Throws kInvalidArgument naming the layer and the property.
[[nodiscard]] std::unique_ptr<Layer> make_fully_connected(const std::string& name,
                                                          const Properties& properties);

}  // namespace moil
