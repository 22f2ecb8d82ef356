// Numbers in a row, and tensors with some of their elements replaced: how masks are written.
#include <cmath>

#include "base/index.h"
#include "engine/io/onnx/folds/constant_tensor.h"
#include "engine/io/onnx/folds/folds.h"

namespace moil::onnx {
namespace {

double number(const Node& node, FoldInputs inputs, std::size_t i) {
  const Tensor& tensor = required(node, inputs, i);
  if (tensor.elements() != 1) bad_fold(node, "its inputs are not one number each");
  return tensor.is_float ? static_cast<double>(tensor.floats[0])
                         : static_cast<double>(tensor.ints[0]);
}

}  // namespace

namespace folds {

Tensor range(const Node& node, FoldInputs inputs) {
  const double start = number(node, inputs, 0), step = number(node, inputs, 2);
  const double count = std::ceil((number(node, inputs, 1) - start) / step);
  constexpr double kMost = 1e18;
  const bool fits = std::isfinite(count) && std::fabs(start) < kMost && std::fabs(step) < kMost &&
                    std::fabs(start + std::fmax(count, 0) * step) < kMost;
  if (!fits) bad_fold(node, "its numbers never end");
  const auto steps = static_cast<std::int64_t>(std::fmin(std::fmax(count, 0), kMost));
  Tensor to;
  to.dims = {count_of(node, {steps}, 0)};
  to.is_float = required(node, inputs, 0).is_float;
  for (std::int64_t i = 0; i < steps; ++i) {
    const double value = start + static_cast<double>(i) * step;
    if (to.is_float)
      to.floats.push_back(static_cast<float>(value));
    else
      to.ints.push_back(static_cast<std::int64_t>(value));
  }
  return to;
}

Tensor scatter_nd(const Node& node, FoldInputs inputs) {
  Tensor to = required(node, inputs, 0);
  const Tensor& updates = required(node, inputs, 2);
  const std::vector<std::int64_t>& places = ints(node, inputs, 1);
  const std::vector<std::int64_t>& shape = required(node, inputs, 1).dims;
  if (node.word("reduction", "none") != "none") bad_fold(node, "a reduction is not supported");
  const std::size_t depth = shape.empty() ? 0 : at(shape.back());
  if (shape.empty() || depth < 1 || depth > to.dims.size() || updates.is_float != to.is_float)
    bad_fold(node, "its inputs do not fit together");
  const std::vector<std::int64_t> strides = strides_of(to.dims);
  const std::int64_t inner = strides[depth - 1];  // elements that one place stands for
  const auto count = static_cast<std::int64_t>(places.size() / depth);
  if (inner < 1 || updates.elements() != count * inner)
    bad_fold(node, "its updates do not fit its indices");
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t begin = 0;
    for (std::size_t k = 0; k < depth; ++k) {
      std::int64_t place = places[at(i) * depth + k];
      if (place < 0) place += to.dims[k];
      if (place < 0 || place >= to.dims[k]) bad_fold(node, "an index is outside its input");
      begin += place * strides[k];
    }
    for (std::int64_t e = 0; e < inner; ++e) {
      if (to.is_float)
        to.floats[at(begin + e)] = updates.floats[at(i * inner + e)];
      else
        to.ints[at(begin + e)] = updates.ints[at(i * inner + e)];
    }
  }
  return to;
}

}  // namespace folds
}  // namespace moil::onnx
