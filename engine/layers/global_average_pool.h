// Mean over all pixels: [N, C, H, W] -> [N, C], type "global_average_pool".
//
// Property: keep_dims = false (true: [N, C, 1, 1]). Backward reads only the derivative.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_global_average_pool(const std::string& name,
                                                              const Properties& properties);

}  // namespace moil
