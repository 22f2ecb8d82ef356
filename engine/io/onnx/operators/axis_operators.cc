// Axes in another order, parts of axes, and tensors joined along one.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "engine/io/onnx/folds/constant_folding.h"
#include "engine/io/onnx/operators/arithmetic.h"
#include "engine/io/onnx/operators/operators.h"
#include "engine/layers/axes.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

// Which axis comes where, counted from the first; the default is back to front.
std::vector<std::size_t> permutation(const Node& node, std::size_t rank) {
  Ints given(rank);
  std::iota(given.rbegin(), given.rend(), 0);
  given = node.integers("perm", given);
  if (given.size() != rank) throw Unsupported("perm does not fit its input");
  std::vector<std::size_t> order;
  std::vector<bool> seen(rank, false);
  for (const std::int64_t k : given) {
    const std::size_t axis = axis_of(node, k, rank);
    if (seen[axis]) throw Unsupported("perm names an axis twice");
    seen[axis] = true;
    order.push_back(axis);
  }
  return order;
}

// A line's pixels one after the other, which is how they lie in memory.
void turn_line(ImportState& state, const Node& node, const Value& x) {
  const bool row = x.view == View::kOneRow;
  Value v = x;
  v.view = View::kWhole;
  v = state.add_layer(node, "permute", {&v},
                      permute_properties(v, row ? Ints{0, 3, 2, 1} : Ints{0, 2, 3, 1}));
  const ::moil::Dims& d = x.info.dims;
  state.set_dims(node, v, {d[0], d[row ? 3 : 2], d[1]}, 0);
}

// Images of another view, whose transposition moves nothing.
bool transpose_view(ImportState& state, const Node& node) {
  Value x = state.pixels(node, 0);
  const Ints given = node.integers("perm");
  if (x.is_line() && given == Ints{0, 2, 1}) {
    turn_line(state, node, x);
    return true;
  }
  const bool to_last =
      x.is_image() && x.view == View::kWhole && x.batch_axis == 0 && given == Ints{0, 2, 3, 1};
  if (!to_last && (x.view != View::kChannelsLast || given != Ints{0, 3, 1, 2})) return false;
  x.view = to_last ? View::kChannelsLast : View::kWhole;
  x.turned = to_last ? name_after(node) : std::string();
  state.alias(node, x);
  return true;
}

void import_transpose(ImportState& state, const Node& node) {
  if (transpose_view(state, node)) return;
  const Value x = state.data(node, 0);
  const Ints before = file_dims(x);
  const std::vector<std::size_t> order = permutation(node, before.size());
  // Images come in channels-last from other tools; in memory ours lie so in any case.
  if (state.is_input(x) && x.batch_axis == 0 && order == std::vector<std::size_t>{0, 3, 1, 2} &&
      state.is_only_reader(node, 0))
    return state.transpose_input(node, x, {before[0], before[3], before[1], before[2]});
  Ints own = {0};
  int batch_axis = -1;
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (static_cast<int>(order[k]) == x.batch_axis)
      batch_axis = static_cast<int>(k);
    else
      own.push_back(static_cast<std::int64_t>(engine_axis(x, order[k])));
  }
  Value result = x;
  if (!std::is_sorted(own.begin(), own.end()))
    result = state.add_layer(node, "permute", {&x}, permute_properties(x, own));
  result.batch_axis = batch_axis;
  state.alias(node, result);
}

// [start, start + length * step) of the file's axis; the node's output may be one of several.
Value take(ImportState& state, const Node& node, const Value& x, std::size_t axis,
           std::int64_t start, std::int64_t length, std::int64_t step) {
  const std::size_t own = engine_axis(x, axis);
  Properties properties = {{"axis", static_cast<std::int64_t>(own)}, {"length", length}};
  if (start != 0) properties["start"] = start;
  if (step != 1) properties["step"] = step;
  return state.add_layer(node, "slice", {&x}, std::move(properties));
}

struct Part {
  std::int64_t axis = 0, start = 0, end = 0, step = 1;
};

std::vector<Part> parts_of(const ImportState& state, const Node& node, std::size_t rank) {
  const bool by_attribute = !state.has(node, 1);
  const Ints starts = by_attribute ? node.integers("starts") : state.constant(node, 1).ints;
  const Ints ends = by_attribute ? node.integers("ends") : state.constant(node, 2).ints;
  Ints axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (by_attribute) axes = node.integers("axes", axes);
  if (const Tensor* given = state.optional_constant(node, 3)) axes = given->ints;
  const Tensor* steps = state.optional_constant(node, 4);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      (steps != nullptr && steps->ints.size() != starts.size()))
    throw Unsupported("its starts, ends, axes and steps differ in number");
  std::vector<Part> parts;
  std::vector<bool> seen(rank, false);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = axis_of(node, axes[i], rank);
    if (seen[axis]) throw Unsupported("it names an axis twice");
    seen[axis] = true;
    parts.push_back({static_cast<std::int64_t>(axis), starts[i], ends[i],
                     steps == nullptr ? 1 : steps->ints[i]});
  }
  return parts;
}

void import_slice(ImportState& state, const Node& node) {
  Value x = state.pixels(node, 0);
  const Ints dims = file_dims(x);
  for (const Part& part : parts_of(state, node, dims.size())) {
    const std::int64_t size = dims[static_cast<std::size_t>(part.axis)];
    const std::int64_t step = std::clamp(part.step, -size, size);
    if (step == 0) throw Unsupported("its step is 0");
    const bool back = step < 0;
    const auto bound = [&](std::int64_t i) {
      return std::clamp(i < 0 ? std::max(i, -size - 1) + size : i, std::int64_t{back ? -1 : 0},
                        back ? size - 1 : size);
    };
    const std::int64_t start = bound(part.start), end = bound(part.end);
    if (back ? start <= end : end <= start) throw Unsupported("it takes nothing of its input");
    const std::int64_t length = (std::abs(end - start) - 1) / std::abs(step) + 1;
    if (!back && start == 0 && length == size) continue;
    x = take(state, node, x, static_cast<std::size_t>(part.axis), start, length, step);
  }
  state.alias(node, x);
}

// Rows of a table that is a weight.
void import_embedding(ImportState& state, const Node& node) {
  const Tensor& table = state.constant(node, 0);
  const Value x = state.data(node, 1);
  if (x.info.type != moil::ElementType::kInt32) throw Unsupported("its indices are computed");
  if (!table.is_float || table.dims.size() != 2 || node.integer("axis", 0) != 0)
    throw Unsupported("of a constant, only the rows of a matrix of floats are supported");
  state.add_layer(node, "embedding", {&x}, {{"rows", table.dims[0]}, {"width", table.dims[1]}},
                  {{"weight", NamedTensor{table.dims, table.floats}}},
                  owner_of(state.find(node.inputs[0])->source));
}

// Constant indices at even distances.
void import_gather(ImportState& state, const Node& node) {
  if (state.is_constant(node, 0) && !state.is_constant(node, 1))
    return import_embedding(state, node);
  if (import_frames(state, node)) return;
  Value x = state.data(node, 0);
  Ints dims = file_dims(x);
  const std::size_t axis = axis_of(node, node.integer("axis", 0), dims.size());
  const Tensor& indices = state.constant(node, 1);
  const Ints& chosen = indices.ints;
  if (indices.is_float || chosen.empty() || indices.dims.size() > 1)
    throw Unsupported("only one index, or a list of them, is supported");
  const std::int64_t size = dims[axis];
  const auto at = [&](std::size_t i) { return chosen[i] < 0 ? chosen[i] + size : chosen[i]; };
  const auto inside = [&](std::size_t i) { return at(i) >= 0 && at(i) < size; };
  bool fits = inside(0) && (chosen.size() < 2 || inside(1));
  const std::int64_t step = fits && chosen.size() > 1 ? at(1) - at(0) : 1;
  for (std::size_t i = 0; fits && i < chosen.size(); ++i)
    fits = inside(i) && step > 0 && at(i) == at(0) + static_cast<std::int64_t>(i) * step;
  if (!fits)
    throw Unsupported("only indices at even distances, and inside its input, are supported");
  const auto count = static_cast<std::int64_t>(chosen.size());
  if (count != size) x = take(state, node, x, axis, at(0), count, step);
  if (!indices.dims.empty()) return state.alias(node, x);
  (void)engine_axis(x, axis);
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  state.set_dims(node, x, dims, x.batch_axis - (static_cast<int>(axis) < x.batch_axis ? 1 : 0));
}

Ints split_sizes(const ImportState& state, const Node& node, std::int64_t size) {
  if (const Tensor* given = state.optional_constant(node, 1)) return given->ints;
  if (node.has("split")) return node.integers("split");
  const auto count = static_cast<std::int64_t>(node.outputs.size());
  const std::int64_t each = (size + count - 1) / count;
  Ints sizes(node.outputs.size(), each);
  sizes.back() = size - each * (count - 1);
  return sizes;
}

void import_split(ImportState& state, const Node& node) {
  const Value x = state.pixels(node, 0);
  const Ints dims = file_dims(x);
  const std::size_t axis = axis_of(node, node.integer("axis", 0), dims.size());
  const Ints sizes = split_sizes(state, node, dims[axis]);
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    if (size < 1 || size > dims[axis] - start) throw Unsupported("its parts do not fit its input");
    start += size;
  }
  if (sizes.size() != node.outputs.size() || start != dims[axis])
    throw Unsupported("its parts do not fit its input");
  start = 0;
  for (std::size_t i = 0; i < sizes.size(); start += sizes[i++]) {
    if (node.outputs[i].empty()) continue;
    Node part = node;
    part.outputs = {node.outputs[i]};
    if (sizes[i] == dims[axis])
      state.alias(part, x);
    else
      (void)take(state, part, x, axis, start, sizes[i], 1);
  }
}

// A constant before rows: a class token, of which every sample has its copy.
void prepend(ImportState& state, const Node& node, std::size_t axis) {
  const Value x = state.rows(node, 1);
  const Tensor& token = state.constant(node, 0);
  if (x.batch_axis != 0 || axis != 1 || x.info.dims.rank() != 3 || token.dims.size() != 3 ||
      token.dims[0] != x.info.dims[0] || token.dims[2] != x.info.dims[2] || !token.is_float)
    throw Unsupported("only rows can be joined with a constant, which stands before them");
  const std::int64_t count = token.dims[1], features = token.dims[2];
  const auto size = static_cast<std::size_t>(count * features);
  for (std::size_t i = size; i < token.floats.size(); ++i)
    if (token.floats[i] != token.floats[i - size])
      throw Unsupported("its constant is not the same for every sample");
  const auto begin = token.floats.begin();
  NamedTensor weight{{count, features}, {begin, begin + static_cast<std::ptrdiff_t>(size)}};
  Properties properties;
  if (count != 1) properties["count"] = count;
  state.add_layer(node, "prepend_parameter", {&x}, std::move(properties),
                  {{"weight", std::move(weight)}},
                  parameter_of(state.find(node.inputs[0])->source));
}

bool have_one_view(ImportState& state, const Node& node) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (state.is_constant(node, i) || state.pixels(node, i).view != state.pixels(node, 0).view)
      return false;
  return true;
}

void import_concat(ImportState& state, const Node& node) {
  if (node.inputs.empty()) throw Unsupported("it has no inputs");
  const bool token = node.inputs.size() == 2 && state.is_constant(node, 0);
  const bool one_view = have_one_view(state, node);
  const auto value_at = [&](std::size_t i) {
    return one_view ? state.pixels(node, i) : state.data(node, i);
  };
  const Value first = value_at(token ? 1 : 0);
  const std::size_t axis = axis_of(node, node.integer("axis", 1), file_dims(first).size());
  if (token) return prepend(state, node, axis);
  std::vector<Value> values;
  bool images = true;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    values.push_back(value_at(i));
    images = images && values[i].is_image();
    if (values[i].batch_axis != first.batch_axis)
      throw Unsupported("its inputs do not fit together");
  }
  if (values.size() == 1) return state.alias(node, first);
  std::vector<const Value*> from;
  for (Value& value : values) {
    if (!images) value = state.as_rows(value);
    from.push_back(&value);
  }
  state.add_layer(node, "concat", from,
                  {{"axis", static_cast<std::int64_t>(engine_axis(first, axis))}});
}

}  // namespace

Properties permute_properties(const Value& x, const Ints& order) {
  Properties properties = {{"order", order}};
  if (order.size() != 4) return properties;
  Ints dims;
  for (const std::int64_t k : order) dims.push_back(x.info.dims[static_cast<std::size_t>(k)]);
  const Strides before = memory_strides(x.info);
  const Strides after = memory_strides({::moil::Dims(dims), Layout::kChannelsLast});
  bool same = true;
  for (std::size_t k = 0; k < 4; ++k)
    same = same && (dims[k] == 1 || before[static_cast<std::size_t>(order[k])] == after[k]);
  properties["layout"] = std::string(same ? "channels_last" : "plain");
  return properties;
}

Value add_along(ImportState& state, const Node& node, const Value& rows, std::size_t axis,
                const std::string& type, const Properties& properties) {
  const std::size_t last = rows.info.dims.rank() - 1;
  if (axis == last) return state.add_layer(node, type, {&rows}, properties);
  Ints order(last + 1);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[axis], order[last]);
  Value v = state.add_layer(node, "permute", {&rows}, {{"order", order}});
  v = state.add_layer(node, type, {&v}, properties);
  return state.add_layer(node, "permute", {&v}, {{"order", order}});
}

void add_axis_operators(Operators& operators) {
  operators.insert({{"Transpose", import_transpose},
                    {"Slice", import_slice},
                    {"Gather", import_gather},
                    {"Split", import_split},
                    {"Concat", import_concat}});
}

}  // namespace moil::onnx
