#include <algorithm>
#include <numeric>
#include <set>

#include "base/index.h"
#include "engine/io/onnx/folds/constant_folding.h"
#include "engine/io/onnx/folds/constant_tensor.h"
#include "engine/io/onnx/folds/folds.h"
#include "engine/io/onnx/tensor_bytes.h"

namespace moil::onnx {
namespace {

// One axis at a time.
Tensor sliced(const Node& node, const Tensor& data, std::size_t axis, std::int64_t start,
              std::int64_t end, std::int64_t step) {
  const std::int64_t size = data.dims[axis];
  if (step == 0) bad_fold(node, "a step of zero");
  if (size == 0) return data;
  step = std::clamp(step, -size, size);
  const auto bound = [&](std::int64_t i, std::int64_t least, std::int64_t most) {
    return std::clamp(i < 0 ? i + size : i, least, most);
  };
  start = step > 0 ? bound(start, 0, size) : bound(start, 0, size - 1);
  end = step > 0 ? bound(end, 0, size) : bound(std::max(end, -size - 1), -1, size - 1);
  const std::int64_t span = step > 0 ? end - start : start - end;
  const std::int64_t width = step > 0 ? step : -step;
  TensorDims dims = data.dims;
  dims[axis] = span <= 0 ? 0 : (span + width - 1) / width;
  const std::int64_t inner = strides_of(data.dims)[axis], count = dims[axis];
  return picked(node, data, dims, [&](std::int64_t i) {
    const std::int64_t row = i / inner / count, pick = i / inner % count;
    return (row * size + start + pick * step) * inner + i % inner;
  });
}

// What joining them makes; inputs that are named twice make it grow.
void check_joined_size(const Node& node, FoldInputs inputs) {
  std::set<const Tensor*> seen;
  std::int64_t joined = 0, given = 0;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Tensor& next = required(node, inputs, k);
    joined += next.elements();
    if (seen.insert(&next).second) given += next.elements();
  }
  (void)count_of(node, {joined}, given);
}

Tensor with_dims(const Node& node, const Tensor& from, TensorDims dims) {
  if (count_of(node, dims, from.elements()) != from.elements())
    bad_fold(node, "the new shape has another size");
  Tensor to = from;
  to.dims = std::move(dims);
  return to;
}

TensorDims axes_of(const Node& node, FoldInputs inputs) {
  return has(inputs, 1) ? ints(node, inputs, 1) : node.integers("axes");
}

}  // namespace

namespace folds {

Tensor constant(const Node& node, FoldInputs) {
  if (const Tensor* value = node.tensor("value")) return *value;
  if (node.has("value_float"))
    return Tensor::of({}, {static_cast<float>(node.number("value_float", 0))});
  if (node.has("value_int")) return Tensor::of_ints({}, {node.integer("value_int", 0)});
  if (node.has("value_ints")) {
    auto values = node.integers("value_ints");
    const auto size = static_cast<std::int64_t>(values.size());
    return Tensor::of_ints({size}, std::move(values));
  }
  bad_fold(node, "no value that is supported");
}

Tensor constant_of_shape(const Node& node, FoldInputs inputs) {
  const Tensor* value = node.tensor("value");
  const Tensor zero = Tensor::of({1}, {0.0F});
  const Tensor& fill = value == nullptr ? zero : *value;
  if (fill.elements() != 1) bad_fold(node, "its value is not one number");
  return picked(node, fill, ints(node, inputs, 0), [](std::int64_t) { return 0; });
}

Tensor gather(const Node& node, FoldInputs inputs) {
  const Tensor& data = required(node, inputs, 0);
  const Tensor& indices = required(node, inputs, 1);
  const std::size_t axis = axis_of(node, node.integer("axis", 0), data.dims.size());
  std::vector<std::int64_t> chosen = ints(node, inputs, 1);
  for (std::int64_t& i : chosen) {
    if (i < 0) i += data.dims[axis];
    if (i < 0 || i >= data.dims[axis]) bad_fold(node, "an index is outside its input");
  }
  TensorDims dims(data.dims.begin(), data.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), data.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
              data.dims.end());
  const std::int64_t inner = strides_of(data.dims)[axis];
  const auto picks = static_cast<std::int64_t>(chosen.size());
  return picked(node, data, dims, [&](std::int64_t i) {
    const std::int64_t row = i / inner / picks, pick = i / inner % picks;
    return (row * data.dims[axis] + chosen[at(pick)]) * inner + i % inner;
  });
}

Tensor slice(const Node& node, FoldInputs inputs) {
  const Tensor& all = required(node, inputs, 0);
  const bool by_attribute = !has(inputs, 1);
  const TensorDims starts = by_attribute ? node.integers("starts") : ints(node, inputs, 1);
  const TensorDims ends = by_attribute ? node.integers("ends") : ints(node, inputs, 2);
  TensorDims axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (by_attribute)
    axes = node.integers("axes", axes);
  else if (has(inputs, 3))
    axes = ints(node, inputs, 3);
  const TensorDims steps = has(inputs, 4) ? ints(node, inputs, 4) : TensorDims(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    bad_fold(node, "its starts, ends, axes and steps differ in number");
  if (starts.empty()) return all;
  if (starts.size() > kMaxRank) bad_fold(node, "it slices more axes than there are");
  Tensor data;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const Tensor& from = i == 0 ? all : data;
    const std::size_t axis = axis_of(node, axes[i], from.dims.size());
    data = sliced(node, from, axis, starts[i], ends[i], steps[i]);
  }
  return data;
}

Tensor concat(const Node& node, FoldInputs inputs) {
  check_joined_size(node, inputs);
  Tensor all = required(node, inputs, 0);
  const std::size_t axis = axis_of(node, node.integer("axis", 0), all.dims.size());
  for (std::size_t k = 1; k < inputs.size(); ++k) {
    const Tensor& next = required(node, inputs, k);
    TensorDims dims = all.dims;
    if (next.dims.size() != dims.size() || next.is_float != all.is_float)
      bad_fold(node, "its inputs do not fit together");
    dims[axis] += next.dims[axis];
    const std::int64_t inner = strides_of(all.dims)[axis];
    const std::int64_t first = all.dims[axis] * inner, second = next.dims[axis] * inner;
    if (all.elements() / std::max<std::int64_t>(first, 1) !=
            next.elements() / std::max<std::int64_t>(second, 1) &&
        first > 0 && second > 0)
      bad_fold(node, "its inputs do not fit together");
    const auto join = [&](const auto& a, const auto& b) {
      std::remove_cvref_t<decltype(a)> out;
      out.reserve(a.size() + b.size());
      const std::int64_t rows =
          first > 0 ? all.elements() / first : (second > 0 ? next.elements() / second : 0);
      for (std::int64_t r = 0; r < rows; ++r) {
        out.insert(out.end(), a.begin() + r * first, a.begin() + (r + 1) * first);
        out.insert(out.end(), b.begin() + r * second, b.begin() + (r + 1) * second);
      }
      return out;
    };
    if (all.is_float)
      all.floats = join(all.floats, next.floats);
    else
      all.ints = join(all.ints, next.ints);
    all.dims = dims;
    if (count_of(node, dims, all.elements()) != all.elements())
      bad_fold(node, "its inputs do not fit together");
  }
  return all;
}

Tensor transpose(const Node& node, FoldInputs inputs) {
  const Tensor& from = required(node, inputs, 0);
  const std::size_t rank = from.dims.size();
  TensorDims order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  order = node.integers("perm", order);
  if (order.size() != rank) bad_fold(node, "perm does not fit its input");
  const TensorDims strides = strides_of(from.dims);
  TensorDims dims, steps;
  std::vector<bool> seen(rank, false);
  for (const std::int64_t k : order) {
    const std::size_t axis = axis_of(node, k, rank);
    if (seen[axis]) bad_fold(node, "perm names an axis twice");
    seen[axis] = true;
    dims.push_back(from.dims[axis]);
    steps.push_back(strides[axis]);
  }
  return picked(node, from, dims, [&](std::int64_t i) { return walk(i, dims, steps); });
}

Tensor reshape(const Node& node, FoldInputs inputs) {
  const Tensor& from = required(node, inputs, 0);
  return with_dims(node, from, reshaped(node, from.dims, ints(node, inputs, 1)));
}

Tensor shape(const Node& node, FoldInputs inputs) {
  return shape_of(node, required(node, inputs, 0).dims);
}

Tensor squeeze(const Node& node, FoldInputs inputs) {
  const Tensor& from = required(node, inputs, 0);
  std::vector<bool> drop(from.dims.size(), false);
  const TensorDims axes = axes_of(node, inputs);
  for (std::size_t k = 0; k < drop.size(); ++k) drop[k] = axes.empty() && from.dims[k] == 1;
  for (const std::int64_t axis : axes) drop[axis_of(node, axis, drop.size())] = true;
  TensorDims dims;
  for (std::size_t k = 0; k < drop.size(); ++k)
    if (!drop[k]) dims.push_back(from.dims[k]);
  return with_dims(node, from, dims);
}

Tensor unsqueeze(const Node& node, FoldInputs inputs) {
  const Tensor& from = required(node, inputs, 0);
  const TensorDims axes = axes_of(node, inputs);
  const std::size_t rank = from.dims.size() + axes.size();
  std::vector<bool> added(rank, false);
  for (const std::int64_t axis : axes) added[axis_of(node, axis, rank)] = true;
  TensorDims dims;
  std::size_t next = 0;
  for (std::size_t k = 0; k < rank; ++k) {
    if (!added[k] && next >= from.dims.size()) bad_fold(node, "it names an axis twice");
    dims.push_back(added[k] ? 1 : from.dims[next++]);
  }
  return with_dims(node, from, dims);
}

Tensor identity(const Node& node, FoldInputs inputs) { return required(node, inputs, 0); }

}  // namespace folds
}  // namespace moil::onnx
