#include "engine/io/onnx/folds/constant_tensor.h"

#include "base/error.h"
#include "engine/io/onnx/folds/constant_folding.h"
#include "engine/io/onnx/tensor_bytes.h"

namespace moil::onnx {

void bad_fold(const Node& node, const std::string& what) {
  throw Error(ErrorCode::kBadData, node.label() + ": " + what);
}

std::int64_t count_of(const Node& node, const TensorDims& dims, std::int64_t of_inputs) {
  const std::int64_t most = std::max(of_inputs, kMaxGrownElements);
  if (dims.size() > kMaxRank) bad_fold(node, "a constant of more dimensions than are supported");
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t d : dims) {
    if (d < 0 || (d > 0 && count > most / d))
      bad_fold(node, "a constant of more elements than are supported");
    empty |= d == 0;
    count *= std::max<std::int64_t>(d, 1);
  }
  return empty ? 0 : count;
}

const Tensor& required(const Node& node, FoldInputs inputs, std::size_t i) {
  if (i >= inputs.size() || inputs[i] == nullptr)
    bad_fold(node, "input " + std::to_string(i) + " is missing");
  return *inputs[i];
}

const std::vector<std::int64_t>& ints(const Node& node, FoldInputs inputs, std::size_t i) {
  const Tensor& tensor = required(node, inputs, i);
  if (tensor.is_float) bad_fold(node, "input " + std::to_string(i) + " is not of whole numbers");
  return tensor.ints;
}

bool has(FoldInputs inputs, std::size_t i) { return i < inputs.size() && inputs[i] != nullptr; }

TensorDims strides_of(const TensorDims& dims) {
  TensorDims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

std::int64_t walk(std::int64_t i, const TensorDims& dims, const TensorDims& strides) {
  std::int64_t index = 0;
  for (std::size_t k = dims.size(); k-- > 0;) {
    index += i % dims[k] * strides[k];
    i /= dims[k];
  }
  return index;
}

}  // namespace moil::onnx
