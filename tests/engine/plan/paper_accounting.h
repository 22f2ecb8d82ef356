// The memory of a training step, counted as NNTrainer's papers count it (2022 §3 and Table 4, 2024
// Table 4): for comparison with their figures. Our own plans (network_plan.h) count what their
// steps really touch.
//
// Counted, in fp32:
// - weights and biases, and statistics, always;
// - the model's input and the label from the first order to the last: both are held, not consumed;
// - each layer's output from its F to its last reader; the loss reads the prediction in F and CD;
// - derivatives from the CD that makes them to the last step that reads them. The loss makes one of
//   its own beside prediction and label: nothing of it is in place;
// - gradients from CG to AG, one layer's at a time; plain SGD keeps no states.
// In place, as in §4: activations over their inputs, forward and backward; a flatten is a
// view. Orders are those of 2022, with the loss as the last layer.
// Not counted: the loss itself, kernels' workspaces (im2col), what layers save besides (masks,
// batch statistics), and whatever a plan loses between tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/model/model_description.h"

namespace moil {

// The most bytes that live at any order of a step that trains all layers with this loss ("mse", as
// in the papers). Throws what build_graph() throws. A pure function of its arguments.
[[nodiscard]] std::size_t paper_bytes(const ModelDescription& model, const std::string& loss,
                                      std::int64_t batch);

}  // namespace moil
