// Reshapes and reductions.
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
  const Value& x = state.data(node, 0);
  state.set_dims(node, x, reshaped(node, file_dims(x), state.constant(node, 1).ints));
}

Ints axes_of(const ImportState& state, const Node& node, std::size_t rank) {
  const Tensor* given = state.optional_constant(node, 1);
  Ints axes = given == nullptr ? node.integers("axes") : given->ints;
  for (std::int64_t& axis : axes) axis = static_cast<std::int64_t>(axis_of(node, axis, rank));
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

bool contains(const Ints& axes, std::size_t axis) {
  return std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(axis));
}

void import_squeeze(ImportState& state, const Node& node) {
  const Value& x = state.data(node, 0);
  const Ints before = file_dims(x), axes = axes_of(state, node, before.size());
  Ints dims;
  for (std::size_t k = 0; k < before.size(); ++k) {
    const bool batch = static_cast<int>(k) == x.batch_axis;
    const bool drops = axes.empty() ? before[k] == 1 && !batch : contains(axes, k);
    if (drops && before[k] != 1) throw Unsupported("it drops a dimension that is not 1");
    if (!drops) dims.push_back(before[k]);
  }
  state.set_dims(node, x, dims);
}

void import_unsqueeze(ImportState& state, const Node& node) {
  const Value& x = state.data(node, 0);
  const Ints before = file_dims(x);
  const Tensor* given = state.optional_constant(node, 1);
  const std::size_t rank =
      before.size() + (given == nullptr ? node.integers("axes").size() : given->ints.size());
  if (rank > 2 * ::moil::Dims::kMaxRank) throw Unsupported("a tensor of too many dimensions");
  const Ints axes = axes_of(state, node, rank);
  if (axes.size() + before.size() != rank) throw Unsupported("it names an axis twice");
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

// As an image [N, kept, reduced, 1], whose mean over rows and columns is asked for.
Value as_columns(ImportState& state, const Node& node, const Value& x, const Ints& axes) {
  Value v = x;
  const std::size_t rank = v.info.dims.rank();
  Ints order = {0};
  std::int64_t kept = 1, reduced = 1;
  for (const bool reduces : {true, false}) {
    for (std::size_t k = 1; k < rank; ++k) {
      if (contains(axes, k) != reduces) continue;
      order.push_back(static_cast<std::int64_t>(k));
      (reduces ? reduced : kept) *= v.info.dims[k];
    }
  }
  if (!std::is_sorted(order.begin(), order.end())) {
    v = state.add_layer(node, "permute", {&v}, permute_properties(v, order));
  }
  v = state.add_layer(node, "reshape", {&v},
                      {{"dims", Ints{reduced, 1, kept}}, {"layout", std::string("plain")}});
  return state.add_layer(node, "permute", {&v},
                         {{"order", Ints{0, 3, 1, 2}}, {"layout", std::string("channels_last")}});
}

// Means over any axes of a sample.
void import_reduce_mean(ImportState& state, const Node& node) {
  if (is_pending(state, node, 0)) return mark_pending(state, node, state.unfinished_data(node, 0));
  const Value x = state.data(node, 0);
  const Ints before = file_dims(x), axes = axes_of(state, node, before.size());
  const bool keeps = node.integer("keepdims", 1) != 0;
  if (axes.empty()) throw Unsupported("only means over named axes are supported");
  if (x.is_image() && x.batch_axis == 0 && axes == Ints{2, 3}) {
    state.add_layer(node, "global_average_pool", {&x}, {{"keep_dims", keeps}});
    return;
  }
  Ints own, dims;
  int batch_axis = x.batch_axis;
  for (std::size_t k = 0; k < before.size(); ++k) {
    const bool reduces = contains(axes, k);
    if (reduces) own.push_back(static_cast<std::int64_t>(engine_axis(x, k)));
    if (keeps || !reduces) dims.push_back(reduces ? 1 : before[k]);
    if (reduces && !keeps && static_cast<int>(k) < x.batch_axis) --batch_axis;
  }
  const Value columns = as_columns(state, node, x, own);
  const Value means =
      state.add_layer(node, "global_average_pool", {&columns}, {{"keep_dims", false}});
  state.set_dims(node, means, dims, batch_axis);
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
                    {"ReduceMean", import_reduce_mean},
                    {"Shape", import_shape}});
}

const Operators& operators() {
  static const Operators all = [] {
    Operators table;
    add_window_operators(table);
    add_weighted_operators(table);
    add_elementwise_operators(table);
    add_arithmetic_operators(table);
    add_shape_operators(table);
    add_axis_operators(table);
    add_recurrent_operators(table);
    return table;
  }();
  return all;
}

}  // namespace moil::onnx
