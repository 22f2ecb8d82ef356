#include "engine/io/onnx/constant_folding.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "base/error.h"
#include "engine/io/onnx/tensor_bytes.h"

namespace moil::onnx {
namespace {

using Inputs = std::span<const Tensor* const>;
using Dims = std::vector<std::int64_t>;

// Reshapes are asked about computed values, too, which take no memory here.
constexpr std::int64_t kMaxReshaped = std::int64_t{1} << 40;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

[[noreturn]] void bad(const Node& node, const std::string& what) {
  throw Error(ErrorCode::kBadData, node.label() + ": " + what);
}

// The elements of a tensor of these dims; more than its inputs have up to kMaxGrownElements alone.
// Zeros count last, so that no order of dims hides a large one.
std::int64_t count_of(const Node& node, const Dims& dims, std::int64_t of_inputs) {
  const std::int64_t most = std::max(of_inputs, kMaxGrownElements);
  if (dims.size() > kMaxRank) bad(node, "a constant of more dimensions than are supported");
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t d : dims) {
    if (d < 0 || (d > 0 && count > most / d))
      bad(node, "a constant of more elements than are supported");
    empty |= d == 0;
    count *= std::max<std::int64_t>(d, 1);
  }
  return empty ? 0 : count;
}

// The nearest whole number that there is room for; 0 for what is no number.
std::int64_t whole(double value) {
  constexpr double kLimit = 9.2e18;
  return std::isnan(value) ? 0 : static_cast<std::int64_t>(std::clamp(value, -kLimit, kLimit));
}

const Tensor& required(const Node& node, Inputs inputs, std::size_t i) {
  if (i >= inputs.size() || inputs[i] == nullptr)
    bad(node, "input " + std::to_string(i) + " is missing");
  return *inputs[i];
}

const std::vector<std::int64_t>& ints(const Node& node, Inputs inputs, std::size_t i) {
  const Tensor& tensor = required(node, inputs, i);
  if (tensor.is_float) bad(node, "input " + std::to_string(i) + " is not of whole numbers");
  return tensor.ints;
}

bool has(Inputs inputs, std::size_t i) { return i < inputs.size() && inputs[i] != nullptr; }

// A tensor of these dims whose element i is element source(i) of `from`. others: the most elements
// that another input has.
Tensor picked(const Node& node, const Tensor& from, Dims dims, const auto& source,
              std::int64_t others = 0) {
  Tensor to;
  const std::int64_t count = count_of(node, dims, std::max(from.elements(), others));
  to.dims = std::move(dims);
  to.is_float = from.is_float;
  const auto pick = [&](const auto& in, auto& out) {
    out.resize(at(count));
    for (std::int64_t i = 0; i < count; ++i) out[at(i)] = in[at(source(i))];
  };
  if (from.is_float)
    pick(from.floats, to.floats);
  else
    pick(from.ints, to.ints);
  return to;
}

Dims strides_of(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

// The index into a tensor of `strides`, of element i of a tensor of `dims`: axis k advances by
// strides[k].
std::int64_t walk(std::int64_t i, const Dims& dims, const Dims& strides) {
  std::int64_t index = 0;
  for (std::size_t k = dims.size(); k-- > 0;) {
    index += i % dims[k] * strides[k];
    i /= dims[k];
  }
  return index;
}

Tensor constant(const Node& node, Inputs) {
  if (const Tensor* value = node.tensor("value")) return *value;
  if (node.has("value_float"))
    return Tensor::of({}, {static_cast<float>(node.number("value_float", 0))});
  if (node.has("value_int")) return Tensor::of_ints({}, {node.integer("value_int", 0)});
  if (node.has("value_ints")) {
    auto values = node.integers("value_ints");
    const auto size = static_cast<std::int64_t>(values.size());
    return Tensor::of_ints({size}, std::move(values));
  }
  bad(node, "no value that is supported");
}

Tensor constant_of_shape(const Node& node, Inputs inputs) {
  const Tensor* value = node.tensor("value");
  const Tensor zero = Tensor::of({1}, {0.0F});
  const Tensor& fill = value == nullptr ? zero : *value;
  if (fill.elements() != 1) bad(node, "its value is not one number");
  return picked(node, fill, ints(node, inputs, 0), [](std::int64_t) { return 0; });
}

Tensor cast(const Node& node, Inputs inputs) {
  const Tensor& from = required(node, inputs, 0);
  const std::int64_t type = node.integer("to", 1);
  const bool to_float = type == 1 || type == 10 || type == 11 || type == 16;
  if (to_float == from.is_float) return from;
  Tensor to;
  to.dims = from.dims;
  to.is_float = to_float;
  if (to_float)
    to.floats.assign(from.ints.begin(), from.ints.end());
  else
    for (const float v : from.floats) to.ints.push_back(whole(static_cast<double>(v)));
  return to;
}

Tensor gather(const Node& node, Inputs inputs) {
  const Tensor& data = required(node, inputs, 0);
  const Tensor& indices = required(node, inputs, 1);
  const std::size_t axis = axis_of(node, node.integer("axis", 0), data.dims.size());
  std::vector<std::int64_t> chosen = ints(node, inputs, 1);
  for (std::int64_t& i : chosen) {
    if (i < 0) i += data.dims[axis];
    if (i < 0 || i >= data.dims[axis]) bad(node, "an index is outside its input");
  }
  Dims dims(data.dims.begin(), data.dims.begin() + static_cast<std::ptrdiff_t>(axis));
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

// One axis at a time.
Tensor sliced(const Node& node, const Tensor& data, std::size_t axis, std::int64_t start,
              std::int64_t end, std::int64_t step) {
  const std::int64_t size = data.dims[axis];
  if (step == 0) bad(node, "a step of zero");
  if (size == 0) return data;
  step = std::clamp(step, -size, size);
  const auto bound = [&](std::int64_t i, std::int64_t least, std::int64_t most) {
    return std::clamp(i < 0 ? i + size : i, least, most);
  };
  start = step > 0 ? bound(start, 0, size) : bound(start, 0, size - 1);
  end = step > 0 ? bound(end, 0, size) : bound(std::max(end, -size - 1), -1, size - 1);
  const std::int64_t span = step > 0 ? end - start : start - end;
  const std::int64_t width = step > 0 ? step : -step;
  Dims dims = data.dims;
  dims[axis] = span <= 0 ? 0 : (span + width - 1) / width;
  const std::int64_t inner = strides_of(data.dims)[axis], count = dims[axis];
  return picked(node, data, dims, [&](std::int64_t i) {
    const std::int64_t row = i / inner / count, pick = i / inner % count;
    return (row * size + start + pick * step) * inner + i % inner;
  });
}

Tensor slice(const Node& node, Inputs inputs) {
  const Tensor& all = required(node, inputs, 0);
  const bool by_attribute = !has(inputs, 1);
  const Dims starts = by_attribute ? node.integers("starts") : ints(node, inputs, 1);
  const Dims ends = by_attribute ? node.integers("ends") : ints(node, inputs, 2);
  Dims axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (by_attribute)
    axes = node.integers("axes", axes);
  else if (has(inputs, 3))
    axes = ints(node, inputs, 3);
  const Dims steps = has(inputs, 4) ? ints(node, inputs, 4) : Dims(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    bad(node, "its starts, ends, axes and steps differ in number");
  if (starts.empty()) return all;
  if (starts.size() > kMaxRank) bad(node, "it slices more axes than there are");
  Tensor data;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const Tensor& from = i == 0 ? all : data;
    const std::size_t axis = axis_of(node, axes[i], from.dims.size());
    data = sliced(node, from, axis, starts[i], ends[i], steps[i]);
  }
  return data;
}

// What joining them makes; inputs that are named twice make it grow.
void check_joined_size(const Node& node, Inputs inputs) {
  std::set<const Tensor*> seen;
  std::int64_t joined = 0, given = 0;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Tensor& next = required(node, inputs, k);
    joined += next.elements();
    if (seen.insert(&next).second) given += next.elements();
  }
  (void)count_of(node, {joined}, given);
}

Tensor concat(const Node& node, Inputs inputs) {
  check_joined_size(node, inputs);
  Tensor all = required(node, inputs, 0);
  const std::size_t axis = axis_of(node, node.integer("axis", 0), all.dims.size());
  for (std::size_t k = 1; k < inputs.size(); ++k) {
    const Tensor& next = required(node, inputs, k);
    Dims dims = all.dims;
    if (next.dims.size() != dims.size() || next.is_float != all.is_float)
      bad(node, "its inputs do not fit together");
    dims[axis] += next.dims[axis];
    const std::int64_t inner = strides_of(all.dims)[axis];
    const std::int64_t first = all.dims[axis] * inner, second = next.dims[axis] * inner;
    if (all.elements() / std::max<std::int64_t>(first, 1) !=
            next.elements() / std::max<std::int64_t>(second, 1) &&
        first > 0 && second > 0)
      bad(node, "its inputs do not fit together");
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
      bad(node, "its inputs do not fit together");
  }
  return all;
}

Tensor transposed(const Node& node, Inputs inputs) {
  const Tensor& from = required(node, inputs, 0);
  const std::size_t rank = from.dims.size();
  Dims order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  order = node.integers("perm", order);
  if (order.size() != rank) bad(node, "perm does not fit its input");
  const Dims strides = strides_of(from.dims);
  Dims dims, steps;
  std::vector<bool> seen(rank, false);
  for (const std::int64_t k : order) {
    const std::size_t axis = axis_of(node, k, rank);
    if (seen[axis]) bad(node, "perm names an axis twice");
    seen[axis] = true;
    dims.push_back(from.dims[axis]);
    steps.push_back(strides[axis]);
  }
  return picked(node, from, dims, [&](std::int64_t i) { return walk(i, dims, steps); });
}

Tensor with_dims(const Node& node, const Tensor& from, Dims dims) {
  if (count_of(node, dims, from.elements()) != from.elements())
    bad(node, "the new shape has another size");
  Tensor to = from;
  to.dims = std::move(dims);
  return to;
}

Tensor reshape(const Node& node, Inputs inputs) {
  const Tensor& from = required(node, inputs, 0);
  return with_dims(node, from, reshaped(node, from.dims, ints(node, inputs, 1)));
}

Dims axes_of(const Node& node, Inputs inputs) {
  return has(inputs, 1) ? ints(node, inputs, 1) : node.integers("axes");
}

Tensor shape(const Node& node, Inputs inputs) {
  return shape_of(node, required(node, inputs, 0).dims);
}

Tensor squeeze(const Node& node, Inputs inputs) {
  const Tensor& from = required(node, inputs, 0);
  std::vector<bool> drop(from.dims.size(), false);
  const Dims axes = axes_of(node, inputs);
  for (std::size_t k = 0; k < drop.size(); ++k) drop[k] = axes.empty() && from.dims[k] == 1;
  for (const std::int64_t axis : axes) drop[axis_of(node, axis, drop.size())] = true;
  Dims dims;
  for (std::size_t k = 0; k < drop.size(); ++k)
    if (!drop[k]) dims.push_back(from.dims[k]);
  return with_dims(node, from, dims);
}

Tensor unsqueeze(const Node& node, Inputs inputs) {
  const Tensor& from = required(node, inputs, 0);
  const Dims axes = axes_of(node, inputs);
  const std::size_t rank = from.dims.size() + axes.size();
  std::vector<bool> added(rank, false);
  for (const std::int64_t axis : axes) added[axis_of(node, axis, rank)] = true;
  Dims dims;
  std::size_t next = 0;
  for (std::size_t k = 0; k < rank; ++k) {
    if (!added[k] && next >= from.dims.size()) bad(node, "it names an axis twice");
    dims.push_back(added[k] ? 1 : from.dims[next++]);
  }
  return with_dims(node, from, dims);
}

// The dims that numpy's broadcasting gives these.
Dims joined(const Node& node, const Dims& a, const Dims& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Dims dims(rank, 1);
  for (std::size_t k = 1; k <= rank; ++k) {
    const std::int64_t x = k <= a.size() ? a[a.size() - k] : 1;
    const std::int64_t y = k <= b.size() ? b[b.size() - k] : 1;
    if (x != y && x != 1 && y != 1) bad(node, "its inputs' shapes do not fit together");
    dims[rank - k] = x == 1 ? y : x;
  }
  return dims;
}

// How far each axis of `dims` advances in a tensor that is broadcast to them.
Dims steps_in(const Dims& own, const Dims& dims) {
  const Dims strides = strides_of(own);
  Dims steps(dims.size(), 0);
  for (std::size_t k = 1; k <= own.size(); ++k)
    if (own[own.size() - k] != 1) steps[dims.size() - k] = strides[own.size() - k];
  return steps;
}

Tensor expand(const Node& node, Inputs inputs) {
  const Tensor& from = required(node, inputs, 0);
  const Dims dims = joined(node, from.dims, ints(node, inputs, 1));
  const Dims steps = steps_in(from.dims, dims);
  return picked(node, from, dims, [&](std::int64_t i) { return walk(i, dims, steps); });
}

Tensor where(const Node& node, Inputs inputs) {
  const Tensor &a = required(node, inputs, 1), &b = required(node, inputs, 2);
  const std::vector<std::int64_t>& condition = ints(node, inputs, 0);
  if (a.is_float != b.is_float) bad(node, "its inputs are of different types");
  const Dims& own = required(node, inputs, 0).dims;
  const Dims dims = joined(node, own, joined(node, a.dims, b.dims));
  const Dims steps = steps_in(own, dims), a_steps = steps_in(a.dims, dims),
             b_steps = steps_in(b.dims, dims);
  const auto others = std::max(b.elements(), static_cast<std::int64_t>(condition.size()));
  Tensor to = picked(
      node, a, dims, [&](std::int64_t i) { return walk(i, dims, a_steps); }, others);
  for (std::int64_t i = 0; i < to.elements(); ++i) {
    if (condition[at(walk(i, dims, steps))] != 0) continue;
    const std::size_t other = at(walk(i, dims, b_steps));
    if (a.is_float)
      to.floats[at(i)] = b.floats[other];
    else
      to.ints[at(i)] = b.ints[other];
  }
  return to;
}

// Elementwise with numpy's broadcasting.
Tensor binary(const Node& node, Inputs inputs, const auto& on_floats, const auto& on_ints) {
  const Tensor &a = required(node, inputs, 0), &b = required(node, inputs, 1);
  if (a.is_float != b.is_float) bad(node, "its inputs are of different types");
  const Dims dims = joined(node, a.dims, b.dims);
  const Dims a_steps = steps_in(a.dims, dims), b_steps = steps_in(b.dims, dims);
  Tensor to;
  const std::int64_t count = count_of(node, dims, std::max(a.elements(), b.elements()));
  to.is_float = a.is_float;
  to.dims = dims;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t x = at(walk(i, dims, a_steps)), y = at(walk(i, dims, b_steps));
    if (a.is_float)
      to.floats.push_back(on_floats(a.floats[x], b.floats[y]));
    else
      to.ints.push_back(on_ints(a.ints[x], b.ints[y]));
  }
  return to;
}

Tensor unary(const Node& node, Inputs inputs, const auto& function) {
  Tensor to = required(node, inputs, 0);
  for (float& v : to.floats) v = static_cast<float>(function(static_cast<double>(v)));
  for (std::int64_t& v : to.ints) v = whole(function(static_cast<double>(v)));
  return to;
}

// Whole numbers wrap as the machine's do, without being undefined.
std::int64_t wrapped(std::uint64_t value) { return static_cast<std::int64_t>(value); }
std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

Tensor add(const Node& node, Inputs inputs) {
  return binary(
      node, inputs, [](float a, float b) { return a + b; },
      [](std::int64_t a, std::int64_t b) { return wrapped(bits(a) + bits(b)); });
}

Tensor subtract(const Node& node, Inputs inputs) {
  return binary(
      node, inputs, [](float a, float b) { return a - b; },
      [](std::int64_t a, std::int64_t b) { return wrapped(bits(a) - bits(b)); });
}

Tensor multiply(const Node& node, Inputs inputs) {
  return binary(
      node, inputs, [](float a, float b) { return a * b; },
      [](std::int64_t a, std::int64_t b) { return wrapped(bits(a) * bits(b)); });
}

Tensor divide(const Node& node, Inputs inputs) {
  return binary(
      node, inputs, [](float a, float b) { return a / b; },
      [&](std::int64_t a, std::int64_t b) {
        if (b == 0) bad(node, "a division by zero");
        return b == -1 ? wrapped(0 - bits(a)) : a / b;
      });
}

Tensor equal(const Node& node, Inputs inputs) {
  Tensor to = binary(
      node, inputs, [](float a, float b) { return a == b ? 1.0F : 0.0F; },
      [](std::int64_t a, std::int64_t b) { return a == b ? 1 : 0; });
  if (to.is_float) to.ints.assign(to.floats.begin(), to.floats.end());
  to.floats.clear();
  to.is_float = false;
  return to;
}

const std::map<std::string, Tensor (*)(const Node&, Inputs)>& table() {
  static const std::map<std::string, Tensor (*)(const Node&, Inputs)> operators = {
      {"Add", add},
      {"Cast", cast},
      {"Ceil",
       [](const Node& n, Inputs i) { return unary(n, i, [](double v) { return std::ceil(v); }); }},
      {"Concat", concat},
      {"Constant", constant},
      {"ConstantOfShape", constant_of_shape},
      {"Div", divide},
      {"Equal", equal},
      {"Expand", expand},
      {"Floor",
       [](const Node& n, Inputs i) { return unary(n, i, [](double v) { return std::floor(v); }); }},
      {"Gather", gather},
      {"Identity", [](const Node& n, Inputs i) { return required(n, i, 0); }},
      {"Mul", multiply},
      {"Neg", [](const Node& n, Inputs i) { return unary(n, i, [](double v) { return -v; }); }},
      {"Reshape", reshape},
      {"Shape", shape},
      {"Slice", slice},
      {"Sqrt",
       [](const Node& n, Inputs i) { return unary(n, i, [](double v) { return std::sqrt(v); }); }},
      {"Squeeze", squeeze},
      {"Sub", subtract},
      {"Transpose", transposed},
      {"Unsqueeze", unsqueeze},
      {"Where", where},
  };
  return operators;
}

}  // namespace

std::size_t axis_of(const Node& node, std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size)
    bad(node, "axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
  return at(axis < 0 ? axis + size : axis);
}

std::vector<std::int64_t> reshaped(const Node& node, const std::vector<std::int64_t>& dims,
                                   const std::vector<std::int64_t>& wish) {
  Dims result = wish;
  std::int64_t known = 1, open = -1;
  const bool zero_is_zero = node.integer("allowzero", 0) != 0;
  for (std::size_t k = 0; k < result.size(); ++k) {
    if (result[k] == 0 && !zero_is_zero) {
      if (k >= dims.size()) bad(node, "its shape keeps a dimension that is not there");
      result[k] = dims[k];
    }
    if (result[k] < -1 || (result[k] == -1 && open >= 0)) bad(node, "its shape cannot be");
    if (result[k] == -1)
      open = static_cast<std::int64_t>(k);
    else
      known = count_of(node, {known, result[k]}, kMaxReshaped);
  }
  const std::int64_t count = count_of(node, dims, kMaxReshaped);
  if (open >= 0) {
    if (known == 0 || count % known != 0) bad(node, "its shape does not fit its input");
    result[at(open)] = count / known;
  } else if (known != count) {
    bad(node, "its shape does not fit its input");
  }
  return result;
}

Tensor shape_of(const Node& node, const std::vector<std::int64_t>& dims) {
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto bound = [&](std::int64_t i) {
    return static_cast<std::ptrdiff_t>(std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank));
  };
  const auto first = bound(node.integer("start", 0)), last = bound(node.integer("end", rank));
  const Dims part = first < last ? Dims(dims.begin() + first, dims.begin() + last) : Dims();
  return Tensor::of_ints({static_cast<std::int64_t>(part.size())}, part);
}

bool can_fold(const Node& node) { return node.domain.empty() && table().contains(node.op); }

std::optional<Tensor> fold(const Node& node, Inputs inputs) {
  const auto it = table().find(node.op);
  if (it == table().end() || !node.domain.empty()) return std::nullopt;
  return it->second(node, inputs);
}

}  // namespace moil::onnx
