// The input, type "identity". The same data. No properties.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_identity(const std::string& name,
                                                   const Properties& properties);

}  // namespace moil
