// Reshapes, concatenation and reductions.
#include <algorithm>
#include <numeric>

#include "engine/io/onnx/constant_folding.h"
#include "engine/io/onnx/operators.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

Ints dims_of(const Value& value) {
  const auto values = value.info.dims.values();
  return {values.begin(), values.end()};
}

std::string text(const Ints& dims) { return ::moil::Dims(dims).to_string(); }

// The same elements in the same order under other dims.
void change_dims(ImportState& state, const Node& node, const Value& x, const Ints& dims) {
  const Ints before = dims_of(x);
  if (dims == before) return state.alias(node, x);
  if (dims.size() == 2 && dims[0] == before[0]) {
    state.add_layer(node, "flatten", {&x});
    return;
  }
  throw Unsupported("only reshapes into one vector a sample are supported, not " + text(before) +
                    " into " + text(dims));
}

void import_flatten(ImportState& state, const Node& node) {
  const Value& x = state.data(node, 0);
  const Ints before = dims_of(x);
  const std::size_t axis = axis_of(node, node.integer("axis", 1), before.size() + 1);
  std::int64_t rows = 1, columns = 1;
  for (std::size_t k = 0; k < before.size(); ++k) (k < axis ? rows : columns) *= before[k];
  change_dims(state, node, x, {rows, columns});
}

void import_reshape(ImportState& state, const Node& node) {
  const Value& x = state.data(node, 0);
  change_dims(state, node, x, reshaped(node, dims_of(x), state.constant(node, 1).ints));
}

Ints axes_of(const ImportState& state, const Node& node, std::size_t rank) {
  const Tensor* given = state.optional_constant(node, 1);
  Ints axes = given == nullptr ? node.integers("axes") : given->ints;
  for (std::int64_t& axis : axes) axis = static_cast<std::int64_t>(axis_of(node, axis, rank));
  std::sort(axes.begin(), axes.end());
  return axes;
}

void import_squeeze(ImportState& state, const Node& node) {
  const Value& x = state.data(node, 0);
  const Ints before = dims_of(x), axes = axes_of(state, node, before.size());
  Ints dims;
  for (std::size_t k = 0; k < before.size(); ++k) {
    const bool named = std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(k));
    const bool drops = axes.empty() ? before[k] == 1 && k > 0 : named;
    if (drops && before[k] != 1) throw Unsupported("it drops a dimension that is not 1");
    if (!drops) dims.push_back(before[k]);
  }
  change_dims(state, node, x, dims);
}

bool is_identity(const Ints& order) {
  Ints counted(order.size());
  std::iota(counted.begin(), counted.end(), 0);
  return order == counted;
}

void import_transpose(ImportState& state, const Node& node) {
  const Value& x = state.data(node, 0);
  const Ints before = dims_of(x);
  Ints order(before.size());
  std::iota(order.rbegin(), order.rend(), 0);
  order = node.integers("perm", order);
  if (order.size() != before.size()) throw Unsupported("perm does not fit its input");
  Ints dims;
  for (const std::int64_t k : order) dims.push_back(before[axis_of(node, k, before.size())]);
  // Images come in channels-last from other tools; in memory ours lie so in any case.
  if (state.is_input(x) && order == Ints{0, 3, 1, 2}) {
    if (!state.is_only_reader(node, 0))
      throw Unsupported("transposing is supported where nothing else reads the input");
    return state.transpose_input(node, x, dims);
  }
  if (is_identity(order)) return state.alias(node, x);
  throw Unsupported("transposing is supported behind an input alone");
}

void import_concat(ImportState& state, const Node& node) {
  std::vector<const Value*> from;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) from.push_back(&state.data(node, i));
  if (from.empty()) throw Unsupported("it has no inputs");
  const auto axis = axis_of(node, node.integer("axis", 1), from[0]->info.dims.rank());
  if (from.size() == 1) return state.alias(node, *from[0]);
  state.add_layer(node, "concat", from, {{"axis", static_cast<std::int64_t>(axis)}});
}

void import_reduce_mean(ImportState& state, const Node& node) {
  const Value& x = state.data(node, 0);
  if (x.info.dims.rank() != 4 || axes_of(state, node, 4) != Ints{2, 3})
    throw Unsupported("only means over rows and columns are supported");
  state.add_layer(node, "global_average_pool", {&x},
                  {{"keep_dims", node.integer("keepdims", 1) != 0}});
}

// Known as soon as its input's shape is.
void import_shape(ImportState& state, const Node& node) {
  Value value;
  value.constant = std::make_shared<Tensor>(shape_of(node, dims_of(state.padded_data(node, 0))));
  state.set(node.outputs[0], std::move(value));
}

}  // namespace

void add_shape_operators(Operators& operators) {
  operators.insert({{"Flatten", import_flatten},
                    {"Reshape", import_reshape},
                    {"Squeeze", import_squeeze},
                    {"Transpose", import_transpose},
                    {"Concat", import_concat},
                    {"ReduceMean", import_reduce_mean},
                    {"Shape", import_shape}});
}

const Operators& operators() {
  static const Operators all = [] {
    Operators table;
    add_window_operators(table);
    add_weighted_operators(table);
    add_elementwise_operators(table);
    add_shape_operators(table);
    return table;
  }();
  return all;
}

}  // namespace moil::onnx
