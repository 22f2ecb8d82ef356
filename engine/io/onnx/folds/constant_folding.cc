#include "engine/io/onnx/folds/constant_folding.h"

#include <algorithm>
#include <map>
#include <string>

#include "engine/io/onnx/folds/constant_tensor.h"
#include "engine/io/onnx/folds/folds.h"

namespace moil::onnx {
namespace {

using Fold = Tensor (*)(const Node&, FoldInputs);

// Reshapes are asked about computed values, too, which take no memory here.
constexpr std::int64_t kMaxReshaped = std::int64_t{1} << 40;

const std::map<std::string, Fold>& table() {
  static const std::map<std::string, Fold> operators = {
      {"Add", folds::add},
      {"Cast", folds::cast},
      {"Ceil", folds::ceil},
      {"Concat", folds::concat},
      {"Constant", folds::constant},
      {"ConstantOfShape", folds::constant_of_shape},
      {"DequantizeLinear", folds::dequantize},
      {"Div", folds::divide},
      {"Equal", folds::equal},
      {"Expand", folds::expand},
      {"Floor", folds::floor},
      {"Gather", folds::gather},
      {"Identity", folds::identity},
      {"Max", folds::maximum},
      {"Min", folds::minimum},
      {"Mod", folds::modulo},
      {"Mul", folds::multiply},
      {"Neg", folds::negate},
      {"Not", folds::negation},
      {"Pow", folds::power},
      {"QuantizeLinear", folds::quantize},
      {"ReduceProd", folds::product},
      {"Range", folds::range},
      {"Reshape", folds::reshape},
      {"ScatterND", folds::scatter_nd},
      {"Shape", folds::shape},
      {"Slice", folds::slice},
      {"Sqrt", folds::square_root},
      {"Squeeze", folds::squeeze},
      {"Sub", folds::subtract},
      {"Transpose", folds::transpose},
      {"Unsqueeze", folds::unsqueeze},
      {"Where", folds::where},
  };
  return operators;
}

}  // namespace

std::size_t axis_of(const Node& node, std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size)
    bad_fold(node, "axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
  return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

std::vector<std::int64_t> reshaped(const Node& node, const std::vector<std::int64_t>& dims,
                                   const std::vector<std::int64_t>& wish) {
  TensorDims result = wish;
  std::int64_t known = 1, open = -1;
  const bool zero_is_zero = node.integer("allowzero", 0) != 0;
  for (std::size_t k = 0; k < result.size(); ++k) {
    if (result[k] == 0 && !zero_is_zero) {
      if (k >= dims.size()) bad_fold(node, "its shape keeps a dimension that is not there");
      result[k] = dims[k];
    }
    if (result[k] < -1 || (result[k] == -1 && open >= 0)) bad_fold(node, "its shape cannot be");
    if (result[k] == -1)
      open = static_cast<std::int64_t>(k);
    else
      known = count_of(node, {known, result[k]}, kMaxReshaped);
  }
  const std::int64_t count = count_of(node, dims, kMaxReshaped);
  if (open >= 0) {
    if (known == 0 || count % known != 0) bad_fold(node, "its shape does not fit its input");
    result[static_cast<std::size_t>(open)] = count / known;
  } else if (known != count) {
    bad_fold(node, "its shape does not fit its input");
  }
  return result;
}

Tensor shape_of(const Node& node, const std::vector<std::int64_t>& dims) {
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto bound = [&](std::int64_t i) {
    return static_cast<std::ptrdiff_t>(std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank));
  };
  const auto first = bound(node.integer("start", 0)), last = bound(node.integer("end", rank));
  const TensorDims part =
      first < last ? TensorDims(dims.begin() + first, dims.begin() + last) : TensorDims();
  return Tensor::of_ints({static_cast<std::int64_t>(part.size())}, part);
}

bool can_fold(const Node& node) { return node.domain.empty() && table().contains(node.op); }

std::optional<Tensor> fold(const Node& node, FoldInputs inputs) {
  const auto it = table().find(node.op);
  if (it == table().end() || !node.domain.empty()) return std::nullopt;
  return it->second(node, inputs);
}

}  // namespace moil::onnx
