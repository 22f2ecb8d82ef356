// Products of matrices and norms.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "engine/io/onnx/folds/constant_folding.h"
#include "engine/io/onnx/operators/arithmetic.h"
#include "engine/io/onnx/operators/operators.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

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

void multiply(NamedTensor& tensor, double factor) {
  if (factor == 1) return;
  if (!std::isfinite(factor)) throw Unsupported("its alpha or beta is not a finite number");
  for (float& v : tensor.data) v = static_cast<float>(v * factor);
}

// One number for each of so many units.
NamedTensor spread(NamedTensor tensor, std::int64_t units) {
  tensor.dims = {units};
  tensor.data.resize(static_cast<std::size_t>(units), tensor.data.front());
  return tensor;
}

// Products over the last axis. Samples and what else stands before it are rows.
Value factor(ImportState& state, const Node& node) {
  Value x = state.rows(node, 0);
  const std::size_t rank = file_dims(x).size();
  if (rank < 2) throw Unsupported("only products of rows are supported");
  (void)engine_axis(x, rank - 1);
  return x;
}

const Tensor& matrix(const ImportState& state, const Node& node) {
  const Tensor& weight = state.constant(node, 1);
  if (weight.dims.size() != 2) throw Unsupported("its weight is not a matrix");
  if (!weight.is_float) throw Unsupported("a weight of whole numbers");
  return weight;
}

void import_gemm(ImportState& state, const Node& node) {
  const bool transposed = node.integer("transB", 0) != 0;
  if (node.integer("transA", 0) == 0 && multiply_frames(state, node, transposed)) return;
  const Value x = factor(state, node);
  if (node.integer("transA", 0) != 0)
    throw Unsupported("only products with transA = 0 are supported");
  const Tensor& weight = matrix(state, node);
  NamedTensor kernel = transposed ? weight_of(weight) : turned(weight);
  const std::int64_t units = kernel.dims[0];
  multiply(kernel, node.number("alpha", 1));
  std::map<std::string, NamedTensor> weights = {{"weight", std::move(kernel)}};
  const Tensor* bias = state.optional_constant(node, 2);
  if (bias != nullptr && bias->elements() != units && bias->elements() != 1)
    throw Unsupported("its bias is neither one number nor one a unit");
  if (bias != nullptr) {
    weights["bias"] = spread(weight_of(*bias), units);
    multiply(weights["bias"], node.number("beta", 1));
  }
  state.add_layer(node, "fully_connected", {&x}, {{"units", units}, {"bias", bias != nullptr}},
                  std::move(weights));
}

// The second factor turned: of a product with a permuted tensor, if the permutation does nothing
// but turn it, the tensor that was permuted; if it does more, the same without turning.
bool turned_back(ImportState& state, Value& b) {
  const LayerDescription* layer = state.layer_of(b);
  if (layer == nullptr || layer->type != "permute" || b.is_image()) return false;
  auto order = std::get<Ints>(layer->properties.at("order"));
  const auto last = static_cast<std::int64_t>(order.size()) - 1;
  if (order.back() == last) return false;
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  if (order.back() != last) return false;
  const Value* source = state.value_of(layer->inputs[0]);
  if (source == nullptr) return false;
  const Value from = state.as_rows(*source);
  const int batch_axis = b.batch_axis;
  b = std::is_sorted(order.begin(), order.end())
          ? from
          : state.as_rows(state.helper(layer->name + ".unturned", "permute", from,
                                       permute_properties(from, order)));
  b.batch_axis = batch_axis;
  return true;
}

// Multiplies two tensors, matrix by matrix.
void multiply_matrices(ImportState& state, const Node& node) {
  Value a = state.rows(node, 0), b = state.rows(node, 1);
  const std::size_t rank = file_dims(a).size();
  if (rank < 2 || rank != file_dims(b).size() || a.batch_axis != b.batch_axis)
    throw Unsupported("its inputs do not fit together");
  (void)engine_axis(a, rank - 1);
  (void)engine_axis(a, rank - 2);
  Properties properties;
  if (turned_back(state, b)) properties["transpose_b"] = true;
  state.add_layer(node, "matmul", {&a, &b}, std::move(properties));
}

void import_mat_mul(ImportState& state, const Node& node) {
  if (!state.is_constant(node, 1) && !state.is_constant(node, 0))
    return multiply_matrices(state, node);
  if (multiply_frames(state, node, false)) return;
  const Value x = factor(state, node);
  NamedTensor kernel = turned(matrix(state, node));
  const std::int64_t units = kernel.dims[0];
  state.add_layer(node, "fully_connected", {&x}, {{"units", units}, {"bias", false}},
                  {{"weight", std::move(kernel)}});
}

void import_layer_norm(ImportState& state, const Node& node) {
  const Value x = state.rows(node, 0);
  const std::size_t rank = file_dims(x).size();
  if (axis_of(node, node.integer("axis", -1), rank) + 1 != rank)
    throw Unsupported("only normalisation over the last axis is supported");
  (void)engine_axis(x, rank - 1);
  const std::int64_t size = x.info.dims.back();
  const Tensor& gamma = state.constant(node, 1);
  const Tensor* beta = state.optional_constant(node, 2);
  if (gamma.elements() != size || (beta != nullptr && beta->elements() != size))
    throw Unsupported("its scale and bias do not fit its input");
  const NamedTensor zeros{{size}, std::vector<float>(static_cast<std::size_t>(size), 0.0F)};
  state.add_layer(node, "layer_norm", {&x}, {{"epsilon", tidy(node.number("epsilon", 1e-5))}},
                  {{"gamma", weight_of(gamma, {size})},
                   {"beta", beta == nullptr ? zeros : weight_of(*beta, {size})}});
}

void import_batch_norm(ImportState& state, const Node& node) {
  Value x = state.pixels(node, 0);
  if (file_dims(x).size() != 2) x = state.spatial(node, 0);
  if (node.integer("training_mode", 0) != 0)
    throw Unsupported("exported in training mode; export the model in evaluation mode");
  if (node.integer("spatial", 1) == 0)
    throw Unsupported("statistics of each pixel by itself are not supported");
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
                    {"Einsum", import_einsum},
                    {"MatMul", import_mat_mul},
                    {"LayerNormalization", import_layer_norm},
                    {"BatchNormalization", import_batch_norm}});
}

}  // namespace moil::onnx
