// Product of two tensors, type "multiply": of the same dims, or an image [N, C, H, W] times one
// factor a channel, [N, C] or [N, C, 1, 1]. In place over input 0 if input 1 needs no
// derivative. No properties.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_multiply(const std::string& name,
                                                   const Properties& properties);

}  // namespace moil
