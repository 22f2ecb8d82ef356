// What is planned for one node: which of its steps are needed, and the tensors that they touch.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "engine/device/assignment.h"
#include "engine/device/processor.h"
#include "engine/layers/layer.h"

namespace moil {

// Tensors by what they are to the layer; kNoTensor if there is none.
struct NodePlan {
  LayerPlan layer;
  bool computes_gradient = false, computes_derivative = false;
  std::vector<TensorId> inputs, outputs;
  std::vector<TensorId> input_derivatives, output_derivatives;
  std::vector<TensorId> weights, gradients;
  std::vector<std::vector<TensorId>> states;  // by weight
  std::vector<TensorId> saved;
  std::array<TensorId, 3> workspaces = {kNoTensor, kNoTensor, kNoTensor};  // of F, CG and CD
  StepProcessors processors = {};                                          // who computes each step
  // Their code of F, CG and CD; null: the layer's own.
  std::array<std::shared_ptr<ProcessorStep>, 3> elsewhere;

  // Otherwise the output is the input in another shape.
  bool has_forward_work() const { return layer.in_place != InPlace::kSameData; }
  bool has_derivative_work() const {
    return computes_derivative && layer.derivative_in_place != InPlace::kSameData;
  }
};

}  // namespace moil
