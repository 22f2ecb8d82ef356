// One input, several outputs of the same data, type "multi_out": what lets a value be read by more
// than one layer (NNTrainer 2022, Table 1). The derivatives of the outputs are summed.
//
// Property: outputs, required.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_multi_out(const std::string& name,
                                                    const Properties& properties);

}  // namespace moil
