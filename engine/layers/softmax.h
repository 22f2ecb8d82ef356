// Softmax over features or channels (the last axis in memory), type "softmax", and its logarithm,
// type "log_softmax". In place; the derivative reads the output. No properties.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_softmax(const std::string& name,
                                                  const Properties& properties);
[[nodiscard]] std::unique_ptr<Layer> make_log_softmax(const std::string& name,
                                                      const Properties& properties);

}  // namespace moil
