// Sum of two or more tensors of the same dims, type "add". In place over input 0; the derivative
// passes through to every input. No properties.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_add(const std::string& name,
                                              const Properties& properties);

}  // namespace moil
