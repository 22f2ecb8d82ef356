// Means, sums and extremes over any axes of a sample.
#include <algorithm>
#include <numeric>

#include "engine/io/onnx/folds/constant_folding.h"
#include "engine/io/onnx/operators/arithmetic.h"
#include "engine/io/onnx/operators/operators.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

// Each channel of an image over its pixels; with or without their axes.
using Reduction = Value (*)(ImportState& state, const Node& node, const Value& image, bool keeps);

bool has_axis(const Ints& axes, std::size_t axis) {
  return std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(axis));
}

// As an image [N, kept, reduced, 1], over whose rows and columns the result is asked for.
Value as_columns(ImportState& state, const Node& node, const Value& x, const Ints& axes) {
  Value v = x;
  const std::size_t rank = v.info.dims.rank();
  Ints order = {0};
  std::int64_t kept = 1, reduced = 1;
  for (const bool reduces : {true, false}) {
    for (std::size_t k = 1; k < rank; ++k) {
      if (has_axis(axes, k) != reduces) continue;
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

// Over all that a line or an image has of a channel.
bool reduce_pixels(ImportState& state, const Node& node, const Ints& axes, bool keeps,
                   Reduction reduction) {
  const Value x = state.pixels(node, 0);
  const Ints sides = x.view == View::kChannelsLast ? Ints{1, 2} : Ints{2, 3};
  const bool image = x.is_image() && !x.is_line() && x.batch_axis == 0;
  if (!(image && axes == sides) && !(x.is_line() && axes == Ints{2})) return false;
  (void)reduction(state, node, x, keeps);
  return true;
}

void reduce(ImportState& state, const Node& node, Reduction reduction) {
  const Ints before = file_dims(state.pixels(node, 0));
  Ints axes = axes_of(state, node, before.size());
  const bool keeps = node.integer("keepdims", 1) != 0;
  if (axes.empty()) {
    if (node.integer("noop_with_empty_axes", 0) != 0)
      return state.alias(node, state.pixels(node, 0));
    axes.resize(before.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (reduce_pixels(state, node, axes, keeps, reduction)) return;
  const Value x = state.data(node, 0);
  Ints own, dims;
  int batch_axis = x.batch_axis;
  for (std::size_t k = 0; k < before.size(); ++k) {
    const bool reduces = has_axis(axes, k), is_batch = static_cast<int>(k) == x.batch_axis;
    if (reduces && !(is_batch && state.is_of_one_sample()))
      own.push_back(static_cast<std::int64_t>(engine_axis(x, k)));
    if (keeps || !reduces) dims.push_back(reduces ? 1 : before[k]);
    if (reduces && !keeps && static_cast<int>(k) < x.batch_axis) --batch_axis;
    if (reduces && !keeps && is_batch) batch_axis = -1;
  }
  if (own.empty()) return state.set_dims(node, state.as_rows(x), dims, batch_axis);
  std::sort(own.begin(), own.end());
  const Value columns = as_columns(state, node, x, own);
  state.set_dims(node, reduction(state, node, columns, false), dims, batch_axis);
}

Value mean_of(ImportState& state, const Node& node, const Value& image, bool keeps) {
  return state.add_layer(node, "global_average_pool", {&image}, {{"keep_dims", keeps}});
}

Value sum_of(ImportState& state, const Node& node, const Value& image, bool keeps) {
  const Value mean = mean_of(state, node, image, keeps);
  const auto count = static_cast<double>(image.info.dims[2] * image.info.dims[3]);
  return state.add_layer(node, "scale", {&mean}, {{"factor", count}});
}

Value largest_of(ImportState& state, const Node& node, const Value& image, bool keeps) {
  const Value most = largest_pixels(state, node, image);
  return keeps ? most : state.add_layer(node, "flatten", {&most});
}

Value negative_of(ImportState& state, const Node& node, const Value& x) {
  return state.add_layer(node, "scale", {&x}, {{"factor", -1.0}});
}

Value least_of(ImportState& state, const Node& node, const Value& image, bool keeps) {
  const Value negative = negative_of(state, node, image);
  return negative_of(state, node, largest_of(state, node, negative, keeps));
}

void import_reduce_mean(ImportState& state, const Node& node) {
  if (is_pending(state, node, 0)) return mark_pending(state, node, state.unfinished_data(node, 0));
  reduce(state, node, mean_of);
}

void import_reduce_sum(ImportState& state, const Node& node) { reduce(state, node, sum_of); }
void import_reduce_max(ImportState& state, const Node& node) { reduce(state, node, largest_of); }
void import_reduce_min(ImportState& state, const Node& node) { reduce(state, node, least_of); }

}  // namespace

Ints axes_of(const ImportState& state, const Node& node, std::size_t rank) {
  const Tensor* given = state.optional_constant(node, 1);
  Ints axes = given == nullptr ? node.integers("axes") : given->ints;
  for (std::int64_t& axis : axes) axis = static_cast<std::int64_t>(axis_of(node, axis, rank));
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

void add_reduction_operators(Operators& operators) {
  operators.insert({{"ReduceMean", import_reduce_mean},
                    {"ReduceSum", import_reduce_sum},
                    {"ReduceMax", import_reduce_max},
                    {"ReduceMin", import_reduce_min}});
}

}  // namespace moil::onnx
