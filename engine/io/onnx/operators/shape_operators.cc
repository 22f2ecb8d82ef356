// Reshapes.
#include <algorithm>

#include "engine/io/onnx/folds/constant_folding.h"
#include "engine/io/onnx/operators/arithmetic.h"
#include "engine/io/onnx/operators/operators.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

void import_flatten(ImportState& state, const Node& node) {
  const Value& x = state.data(node, 0);
  const Ints before = file_dims(x);
  const std::size_t axis = axis_of(node, node.integer("axis", 1), before.size() + 1);
  std::int64_t rows = 1, columns = 1;
  for (std::size_t k = 0; k < before.size(); ++k) (k < axis ? rows : columns) *= before[k];
  state.set_dims(node, x, {rows, columns});
}

void import_reshape(ImportState& state, const Node& node) {
  const Value& x = state.of_any_shape(node, 0);
  state.set_dims(node, x, reshaped(node, file_dims(x), state.constant(node, 1).ints));
}

Ints dims_before(ImportState& state, const Node& node) {
  const Value& x = state.unfinished_data(node, 0);
  return file_dims(x.form == Form::kFrames ? x : state.pixels(node, 0));
}

// An image without its only row or column is a line.
bool squeeze_to_line(ImportState& state, const Node& node, const Ints& axes) {
  if (state.unfinished_data(node, 0).form == Form::kFrames) return false;
  Value x = state.pixels(node, 0);
  if (!x.is_image() || x.view != View::kWhole || x.batch_axis != 0 || axes.size() != 1)
    return false;
  if (axes[0] < 2 || x.info.dims[static_cast<std::size_t>(axes[0])] != 1) return false;
  x.view = axes[0] == 2 ? View::kOneRow : View::kOneColumn;
  state.alias(node, x);
  return true;
}

void import_squeeze(ImportState& state, const Node& node) {
  const Ints before = dims_before(state, node);
  const Ints axes = axes_of(state, node, before.size());
  if (squeeze_to_line(state, node, axes)) return;
  const Value& x = state.of_any_shape(node, 0);
  Ints dims;
  for (std::size_t k = 0; k < before.size(); ++k) {
    const bool batch = static_cast<int>(k) == x.batch_axis;
    const bool drops =
        axes.empty() ? before[k] == 1 && !batch
                     : std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(k));
    if (drops && before[k] != 1) throw Unsupported("it drops a dimension that is not 1");
    if (!drops) dims.push_back(before[k]);
  }
  state.set_dims(node, x, dims);
}

// A line, or rows that cost nothing to be one, with an axis of its own for rows or columns.
bool unsqueeze_line(ImportState& state, const Node& node, const Ints& axes) {
  if (state.unfinished_data(node, 0).form == Form::kFrames) return false;
  const Value& x = state.pixels(node, 0);
  if (axes.size() != 1 || axes[0] < 2 || file_dims(x).size() != 3 || x.batch_axis != 0)
    return false;
  if (!x.is_line() && !state.is_line_at_no_cost(x)) return false;
  Value line = state.as_line(x);
  const bool same = (axes[0] == 2) == (line.view == View::kOneRow);
  line.view = View::kWhole;
  if (!same)
    line = state.add_layer(node, "permute", {&line}, permute_properties(line, {0, 1, 3, 2}));
  state.alias(node, line);
  return true;
}

void import_unsqueeze(ImportState& state, const Node& node) {
  const Ints before = dims_before(state, node);
  const Tensor* given = state.optional_constant(node, 1);
  const std::size_t rank =
      before.size() + (given == nullptr ? node.integers("axes").size() : given->ints.size());
  if (rank > 2 * ::moil::Dims::kMaxRank) throw Unsupported("a tensor of too many dimensions");
  const Ints axes = axes_of(state, node, rank);
  if (axes.size() + before.size() != rank) throw Unsupported("it names an axis twice");
  if (unsqueeze_line(state, node, axes)) return;
  const Value& x = state.of_any_shape(node, 0);
  Ints dims = before;
  int batch_axis = x.batch_axis;
  for (const std::int64_t axis : axes) {
    dims.insert(dims.begin() + axis, 1);
    if (batch_axis >= axis) ++batch_axis;
  }
  if (batch_axis < 0) return state.set_dims(node, x, dims);
  state.set_dims(node, x, dims, batch_axis);
}

// Broadcasting is for constants; of computed values only what changes nothing.
void import_expand(ImportState& state, const Node& node) {
  const Value& x = state.unfinished_data(node, 0);
  const Ints before = file_dims(x), wish = state.constant(node, 1).ints;
  bool same = wish.size() <= before.size();
  for (std::size_t k = 1; same && k <= wish.size(); ++k)
    same = wish[wish.size() - k] == 1 || wish[wish.size() - k] == before[before.size() - k];
  if (!same) throw Unsupported("only constants can be expanded");
  state.alias(node, x);
}

// Known as soon as its input's shape is.
void import_shape(ImportState& state, const Node& node) {
  Value value;
  value.constant =
      std::make_shared<Tensor>(shape_of(node, file_dims(state.unfinished_data(node, 0))));
  state.set(node.outputs[0], std::move(value));
}

}  // namespace

void add_shape_operators(Operators& operators) {
  operators.insert({{"Flatten", import_flatten},
                    {"Reshape", import_reshape},
                    {"Squeeze", import_squeeze},
                    {"Unsqueeze", import_unsqueeze},
                    {"Expand", import_expand},
                    {"Shape", import_shape}});
}

const Operators& operators() {
  static const Operators all = [] {
    Operators table;
    add_window_operators(table);
    add_weighted_operators(table);
    add_norm_operators(table);
    add_elementwise_operators(table);
    add_arithmetic_operators(table);
    add_shape_operators(table);
    add_reduction_operators(table);
    add_resize_operators(table);
    add_quantization_operators(table);
    add_axis_operators(table);
    add_recurrent_operators(table);
    add_attention_operators(table);
    return table;
  }();
  return all;
}

}  // namespace moil::onnx
