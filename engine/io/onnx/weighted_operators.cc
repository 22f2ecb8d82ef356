// Products of matrices and norms.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "engine/io/onnx/operators.h"

namespace moil::onnx {
namespace {

// [I, O] as [O, I].
NamedTensor turned(const Tensor& tensor) {
  const std::int64_t rows = tensor.dims[0], columns = tensor.dims[1];
  NamedTensor result{{columns, rows}, std::vector<float>(tensor.floats.size())};
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      result.data[static_cast<std::size_t>(c * rows + r)] =
          tensor.floats[static_cast<std::size_t>(r * columns + c)];
  return result;
}

const Tensor& matrix(const ImportState& state, const Node& node) {
  const Tensor& weight = state.constant(node, 1);
  if (weight.dims.size() != 2) throw Unsupported("its weight is not a matrix");
  if (!weight.is_float) throw Unsupported("a weight of whole numbers");
  return weight;
}

const Value& rows(const ImportState& state, const Node& node) {
  const Value& x = state.data(node, 0);
  if (x.info.dims.rank() != 2)
    throw Unsupported("only products of vectors are supported, not of " + x.info.dims.to_string());
  return x;
}

void import_gemm(ImportState& state, const Node& node) {
  const Value& x = rows(state, node);
  if (node.integer("transA", 0) != 0 || node.number("alpha", 1) != 1 || node.number("beta", 1) != 1)
    throw Unsupported("only products with transA = 0 and alpha = beta = 1 are supported");
  const Tensor& weight = matrix(state, node);
  const bool transposed = node.integer("transB", 0) != 0;
  NamedTensor kernel = transposed ? weight_of(weight) : turned(weight);
  const std::int64_t units = kernel.dims[0];
  std::map<std::string, NamedTensor> weights = {{"weight", std::move(kernel)}};
  const Tensor* bias = state.optional_constant(node, 2);
  if (bias != nullptr && bias->elements() != units)
    throw Unsupported("its bias is not one number a unit");
  if (bias != nullptr) weights["bias"] = weight_of(*bias, {units});
  state.add_layer(node, "fully_connected", {&x}, {{"units", units}, {"bias", bias != nullptr}},
                  std::move(weights));
}

void import_mat_mul(ImportState& state, const Node& node) {
  const Value& x = rows(state, node);
  NamedTensor kernel = turned(matrix(state, node));
  const std::int64_t units = kernel.dims[0];
  state.add_layer(node, "fully_connected", {&x}, {{"units", units}, {"bias", false}},
                  {{"weight", std::move(kernel)}});
}

void import_batch_norm(ImportState& state, const Node& node) {
  const Value& x = state.data(node, 0);
  if (node.integer("training_mode", 0) != 0)
    throw Unsupported("exported in training mode; export the model in evaluation mode");
  std::map<std::string, NamedTensor> weights;
  std::size_t input = 1;
  for (const char* name : {"gamma", "beta", "running_mean", "running_var"})
    weights[name] = weight_of(state.constant(node, input++));
  // ONNX's momentum is what the old statistics keep.
  state.add_layer(node, "batch_norm", {&x},
                  {{"epsilon", tidy(node.number("epsilon", 1e-5))},
                   {"momentum", tidy(1 - node.number("momentum", 0.9))}},
                  std::move(weights));
}

}  // namespace

double tidy(double value) {
  if (!std::isfinite(value)) throw Unsupported("an attribute is not a finite number");
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

NamedTensor weight_of(const Tensor& tensor, std::vector<std::int64_t> dims) {
  if (!tensor.is_float) throw Unsupported("a weight of whole numbers");
  return {std::move(dims), tensor.floats};
}

NamedTensor weight_of(const Tensor& tensor) { return weight_of(tensor, tensor.dims); }

void add_weighted_operators(Operators& operators) {
  operators.insert({{"Gemm", import_gemm},
                    {"MatMul", import_mat_mul},
                    {"BatchNormalization", import_batch_norm}});
}

}  // namespace moil::onnx
