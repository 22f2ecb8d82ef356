// Trained tensors of a model's own, met by every sample:
//   "add_parameter"       y = x + weight: a positional embedding
//   "multiply_parameter"  y = x * weight: a scale of every feature
//   "prepend_parameter"   y = weight, then x, along axis 1: a class token
//
// Properties of the first two: dims, of the weight, which are the last of the input's, [L, F] or
// [F], or 1 if all along an axis meet one number, as in [W, 1, L, L]; trained = true, or false
// for a constant such as a mask. The third has count (1); [N, L, F] to [N, count + L, F]. Weight:
// "weight", of these dims, or [count, F]. Plain layout.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_add_parameter(const std::string& name,
                                                        const Properties& properties);
[[nodiscard]] std::unique_ptr<Layer> make_multiply_parameter(const std::string& name,
                                                             const Properties& properties);
[[nodiscard]] std::unique_ptr<Layer> make_prepend_parameter(const std::string& name,
                                                            const Properties& properties);

}  // namespace moil
