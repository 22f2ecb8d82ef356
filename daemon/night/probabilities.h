// What a classifier's outputs mean as probabilities.
#pragma once

#include <span>

#include "engine/graph/model_description.h"

namespace moil::night {

// Whether the model's only output is one already.
[[nodiscard]] bool ends_in_softmax(const ModelDescription& model);

// The softmax of one sample's logits, in place.
void to_probabilities(std::span<float> logits);

}  // namespace moil::night
