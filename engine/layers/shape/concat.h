// Tensors one behind the other along an axis, type "concat". All other dims must be the same.
//
// Property: axis (1), behind the batch. Backward reads only the derivative.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_concat(const std::string& name,
                                                 const Properties& properties);

}  // namespace moil
