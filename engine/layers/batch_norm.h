// Batch normalisation by channel (the last axis in memory), type "batch_norm".
//
// y = gamma (x - mean) / sqrt(variance + epsilon) + beta. In training, mean and variance are the
// batch's, and the running ones follow: running += momentum (batch - running), the variance
// unbiased, as in PyTorch. With the property frozen, and at inference, the running ones are used
// and left alone (MoIL, LF).
//
// Properties: epsilon = 1e-5, momentum = 0.1, frozen = false.
// Weights: gamma, beta; the statistics running_mean, running_var.
// Backward with batch statistics reads the input; with running ones only gamma's gradient does.
#pragma once

#include <memory>
#include <string>

#include "engine/layers/layer.h"
#include "engine/layers/properties.h"

namespace moil {

[[nodiscard]] std::unique_ptr<Layer> make_batch_norm(const std::string& name,
                                                     const Properties& properties);

}  // namespace moil
