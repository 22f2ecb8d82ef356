// Maximum over windows of an image, type "max_pool".
//
// Properties: kernel, stride = kernel, padding = 0, dilation = 1 (each a number or [height, width];
// padding also [top, left, bottom, right], at most half of what a window spans), ceil_mode = false.
// Backward reads where each maximum stood (1 byte an output element, 2 for windows above 256), not
// the input.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_max_pool(const std::string& name,
                                                   const Properties& properties);

}  // namespace moil
