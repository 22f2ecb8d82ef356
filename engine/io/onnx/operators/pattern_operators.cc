// Functions that were found in several nodes (patterns.h).

#include "engine/io/onnx/folds/constant_folding.h"
#include "engine/io/onnx/operators/arithmetic.h"
#include "engine/io/onnx/operators/operators.h"

namespace moil::onnx {
void import_norm(ImportState& state, const Node& node, const NormPattern& norm) {
  Node reader = node;
  reader.inputs = {norm.x, norm.gamma};
  const Value x = state.rows(reader, 0);
  const std::size_t rank = file_dims(x).size();
  const std::size_t axis = engine_axis(x, axis_of(node, norm.axis, rank));
  if (!near(norm.share * static_cast<double>(x.info.dims[axis]), 1) || !(norm.epsilon > 0))
    throw Unsupported("its factor is not that of a mean");
  const Value v =
      add_along(state, node, x, axis, "layer_norm",
                {{"affine", false}, {"epsilon", shortest(static_cast<float>(norm.epsilon))}});
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
  (void)add_along(state, node, x, axis, "softmax");
}

void import_lookup(ImportState& state, const Node& node, const LookupPattern& lookup) {
  Node reader = node;
  reader.inputs = {lookup.table, lookup.ids};
  const Value ids = state.data(reader, 1);
  const Tensor& table = state.constant(reader, 0);
  std::vector<std::int64_t> wish = file_dims(ids);
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
