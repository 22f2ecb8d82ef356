#include "base/index.h"
#include "engine/io/onnx/folds/constant_folding.h"
#include "engine/io/onnx/folds/folds.h"

namespace moil::onnx::folds {

// A constant stays the floats that its numbers stand for.
Tensor quantize(const Node& node, FoldInputs inputs) {
  const Tensor& from = required(node, inputs, 0);
  if (!from.is_float) bad_fold(node, "its input is not of floats");
  return from;
}

// (x - zero) * scale: one of each for all, or one for each index of an axis.
Tensor dequantize(const Node& node, FoldInputs inputs) {
  const Tensor &from = required(node, inputs, 0), &scale = required(node, inputs, 1);
  if (from.is_float) return from;
  if (!scale.is_float || node.integer("block_size", 0) != 0)
    bad_fold(node, "only scales of floats, one or one for each index of an axis, are supported");
  const std::int64_t count = scale.elements();
  std::int64_t size = 1, inner = 1;
  if (count != 1) {
    const std::size_t axis = axis_of(node, node.integer("axis", 1), from.dims.size());
    size = from.dims[axis];
    inner = strides_of(from.dims)[axis];
  }
  const bool has_zero = has(inputs, 2);
  const Tensor& zero = has_zero ? *inputs[2] : scale;
  if (count != size || zero.elements() != count || (has_zero && zero.is_float))
    bad_fold(node, "its scale and zero point do not fit its input");
  Tensor to = Tensor::of(from.dims, {});
  for (std::int64_t i = 0; i < from.elements(); ++i) {
    const std::size_t k = at(i / inner % size);
    const std::int64_t least = has_zero ? zero.ints[k] : 0;
    to.floats.push_back(
        static_cast<float>(static_cast<double>(from.ints[at(i)]) - static_cast<double>(least)) *
        scale.floats[k]);
  }
  return to;
}

}  // namespace moil::onnx::folds
