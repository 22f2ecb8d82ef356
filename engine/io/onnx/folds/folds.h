// The operators that constant_folding.h evaluates, each a pure function of its node and inputs.
#pragma once

#include "engine/io/onnx/folds/constant_tensor.h"

namespace moil::onnx::folds {

// fold_rearrangements.cc, fold_scatter.cc
Tensor concat(const Node& node, FoldInputs inputs);
Tensor constant(const Node& node, FoldInputs inputs);
Tensor constant_of_shape(const Node& node, FoldInputs inputs);
Tensor gather(const Node& node, FoldInputs inputs);
Tensor identity(const Node& node, FoldInputs inputs);
Tensor range(const Node& node, FoldInputs inputs);
Tensor reshape(const Node& node, FoldInputs inputs);
Tensor scatter_nd(const Node& node, FoldInputs inputs);
Tensor shape(const Node& node, FoldInputs inputs);
Tensor slice(const Node& node, FoldInputs inputs);
Tensor squeeze(const Node& node, FoldInputs inputs);
Tensor transpose(const Node& node, FoldInputs inputs);
Tensor unsqueeze(const Node& node, FoldInputs inputs);

// fold_arithmetic.cc
Tensor add(const Node& node, FoldInputs inputs);
Tensor cast(const Node& node, FoldInputs inputs);
Tensor ceil(const Node& node, FoldInputs inputs);
Tensor divide(const Node& node, FoldInputs inputs);
Tensor dequantize(const Node& node, FoldInputs inputs);
Tensor equal(const Node& node, FoldInputs inputs);
Tensor expand(const Node& node, FoldInputs inputs);
Tensor floor(const Node& node, FoldInputs inputs);
Tensor maximum(const Node& node, FoldInputs inputs);
Tensor minimum(const Node& node, FoldInputs inputs);
Tensor modulo(const Node& node, FoldInputs inputs);
Tensor multiply(const Node& node, FoldInputs inputs);
Tensor negate(const Node& node, FoldInputs inputs);
Tensor negation(const Node& node, FoldInputs inputs);
Tensor product(const Node& node, FoldInputs inputs);
Tensor quantize(const Node& node, FoldInputs inputs);
Tensor power(const Node& node, FoldInputs inputs);
Tensor square_root(const Node& node, FoldInputs inputs);
Tensor subtract(const Node& node, FoldInputs inputs);
Tensor where(const Node& node, FoldInputs inputs);

}  // namespace moil::onnx::folds
