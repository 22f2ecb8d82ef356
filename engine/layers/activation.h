// Element-wise activations: relu, relu6, leaky_relu, sigmoid, tanh, hard_sigmoid, hard_swish, silu,
// gelu (exact), each a layer type of its own.
//
// All may work in place. The derivative of the first six reads the output, that of the last three
// the input, so those work in place only if no derivative is asked for.
// Property of leaky_relu: slope = 0.01, at least 0. The others have none.
#pragma once

#include <memory>
#include <string>

#include "engine/kernels/rows/activation.h"
#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_activation(ActivationKind kind, const std::string& name,
                                                     const Properties& properties);

}  // namespace moil
