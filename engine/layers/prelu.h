// x if it is above zero, otherwise weight times x; one weight a channel (the last axis in
// memory), or one for all.
//
// Property: shared (false). Weight: "weight" [C], or [1] if shared.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_prelu(const std::string& name,
                                                const Properties& properties);

}  // namespace moil
