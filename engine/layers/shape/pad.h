// Elements of one value around a tensor, type "pad".
//
// Properties: begin and end, a list each of as many numbers as the input has axes behind the batch:
// [channels, rows, columns] of an image; value (0).
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_pad(const std::string& name,
                                              const Properties& properties);

}  // namespace moil
