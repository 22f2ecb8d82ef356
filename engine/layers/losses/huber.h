// Huber's loss, the mean over all elements, type "huber": squared errors, but for those beyond
// delta, which count by their size.
//
// Inputs: prediction, and target of the same dims (NaN: none). Output [1]. The derivative is that
// of input 0. Property "delta" (1): above 0.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_huber(const std::string& name,
                                                const Properties& properties);

}  // namespace moil
