// Axes in another order, type "permute": axis k of the result is axis order[k] of the input.
//
// Properties: order, a list that begins with 0, since the batch stays first; layout ("plain" or
// "channels_last"), of a result of rank 4. Shares its memory if nothing moves in it, as from an
// image to its rows of channels.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_permute(const std::string& name,
                                                  const Properties& properties);

}  // namespace moil
