// Fingerprints of models and weights: 128 bits of XXH3 as 32 hexadecimal digits.
//
// Equal on every machine and in every build for equal content; they name cached feature maps and
// recorded choices. They guard against mistakes, not against forgery. Thread-safe.
#pragma once

#include <span>
#include <string>

#include "engine/model/model_description.h"

namespace moil {

// Covers inputs, layers and outputs; not the model's name, which changes nothing it computes.
[[nodiscard]] std::string model_fingerprint(const ModelDescription& model);

// Covers names, dims and the bits of every element.
[[nodiscard]] std::string weights_fingerprint(const WeightMap& weights);

// Covers these layers' weights "LAYER.*" alone. kInvalidArgument for a weight name without a dot.
[[nodiscard]] std::string weights_fingerprint(const WeightMap& weights,
                                              std::span<const std::string> layers);

}  // namespace moil
