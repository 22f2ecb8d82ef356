// Part of an axis, type "slice": indices start, start + step, ... along it, `length` of them.
//
// Properties: axis (1 or more), start (0), length, step (1).
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_slice(const std::string& name,
                                                const Properties& properties);

}  // namespace moil
