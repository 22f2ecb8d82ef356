// Element-wise functions with numbers of their own, which are not trained:
//   "scale"       y = factor x + offset; properties factor (1), offset (0)
//   "clip"        y = min(max(x, min), max); properties min and max, either of which may be left
//   out "reciprocal"  y = 1 / x; no properties
// They take any shape, in place if nobody else reads the input.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_scale(const std::string& name,
                                                const Properties& properties);
[[nodiscard]] std::unique_ptr<Layer> make_clip(const std::string& name,
                                               const Properties& properties);
[[nodiscard]] std::unique_ptr<Layer> make_reciprocal(const std::string& name,
                                                     const Properties& properties);

}  // namespace moil
