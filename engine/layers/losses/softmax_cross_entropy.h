// The loss of single-label classification, type "softmax_cross_entropy".
//
// Inputs: logits, and target probabilities of the same dims (one-hot or soft); classes are the
// features or channels. Output [1]: -sum(target * log softmax(logits)), mean over the batch (and
// the pixels). The derivative is that of input 0. No properties.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_softmax_cross_entropy(const std::string& name,
                                                                const Properties& properties);

}  // namespace moil
