// Whether a classifier answers probabilities, or logits that a softmax makes so.
#pragma once

#include "engine/graph/model_description.h"

namespace moil::night {

// Whether the model's only output is a softmax's.
[[nodiscard]] bool ends_in_softmax(const ModelDescription& model);

}  // namespace moil::night
