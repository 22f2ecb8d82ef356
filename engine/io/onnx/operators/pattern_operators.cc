// Functions that were found in several nodes (patterns.h).
#include <cmath>
#include <numeric>

#include "engine/io/onnx/folds/constant_folding.h"
#include "engine/io/onnx/operators/arithmetic.h"
#include "engine/io/onnx/operators/operators.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

// With this axis at the end, and what turns it back.
Value turned_to_end(ImportState& state, const Node& node, const Value& x, std::size_t axis,
                    Ints& order) {
  order.resize(x.info.dims.rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[axis], order.back());
  return state.add_layer(node, "permute", {&x}, {{"order", order}});
}

}  // namespace

void import_norm(ImportState& state, const Node& node, const NormPattern& norm) {
  Node reader = node;
  reader.inputs = {norm.x, norm.gamma};
  Value x = state.rows(reader, 0);
  const std::size_t rank = file_dims(x).size();
  const std::size_t axis = engine_axis(x, axis_of(node, norm.axis, rank));
  if (!near(norm.share * static_cast<double>(x.info.dims[axis]), 1) || !(norm.epsilon > 0))
    throw Unsupported("its factor is not that of a mean");
  Ints order;
  const bool last = axis + 1 == x.info.dims.rank();
  Value v = last ? x : turned_to_end(state, node, x, axis, order);
  v = state.add_layer(node, "layer_norm", {&v},
                      {{"affine", false}, {"epsilon", shortest(static_cast<float>(norm.epsilon))}});
  if (!last) v = state.add_layer(node, "permute", {&v}, {{"order", order}});
  Node product = node;
  product.inputs = {node.outputs[0], norm.gamma};
  state.alias(node, v);
  multiply_constant(state, product, 0, constant_of(state, product, 1, v));
}

void import_softmax(ImportState& state, const Node& node, const SoftmaxPattern& softmax) {
  Node reader = node;
  reader.inputs = {softmax.x};
  const Value x = state.rows(reader, 0);
  const std::size_t axis = engine_axis(x, axis_of(node, softmax.axis, file_dims(x).size()));
  Ints order;
  const bool last = axis + 1 == x.info.dims.rank();
  Value v = last ? x : turned_to_end(state, node, x, axis, order);
  v = state.add_layer(node, "softmax", {&v});
  if (!last) state.add_layer(node, "permute", {&v}, {{"order", order}});
}

void import_lookup(ImportState& state, const Node& node, const LookupPattern& lookup) {
  Node reader = node;
  reader.inputs = {lookup.table, lookup.ids};
  const Value ids = state.data(reader, 1);
  const Tensor& table = state.constant(reader, 0);
  Ints wish = file_dims(ids);
  wish.push_back(1);
  if (ids.info.type != moil::ElementType::kInt32) throw Unsupported("its indices are computed");
  if (table.dims.size() != 2 || table.dims[0] != lookup.rows || !table.is_float ||
      reshaped(node, file_dims(ids), lookup.shape) != wish)
    throw Unsupported("only the rows of a matrix of floats can be chosen by comparing");
  state.add_layer(node, "embedding", {&ids}, {{"rows", table.dims[0]}, {"width", table.dims[1]}},
                  {{"weight", NamedTensor{table.dims, table.floats}}},
                  owner_of(state.find(lookup.table)->source));
}

}  // namespace moil::onnx
