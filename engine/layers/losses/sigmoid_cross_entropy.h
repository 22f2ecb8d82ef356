// The loss of tagging, where a sample has any number of labels, type "sigmoid_cross_entropy"
// (MoIL, Eq. 1.11).
//
// Inputs: logits, and targets in [0, 1] of the same dims. Output [1]. The derivative is that of
// input 0. Property: reduction = "mean" over all elements, as PyTorch's, or "sum" over a sample's
// labels and mean over the batch.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_sigmoid_cross_entropy(const std::string& name,
                                                                const Properties& properties);

}  // namespace moil
