// Zeroes elements with probability `rate` in training and scales the others by 1 / (1 - rate),
// type "dropout". At inference the same data.
//
// Property: rate = 0.5, 0 <= rate < 1. The mask is a function of LayerRun::random_key and stored
// nowhere; in place. At most 2^32 elements.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_dropout(const std::string& name,
                                                  const Properties& properties);

}  // namespace moil
