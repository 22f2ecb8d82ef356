#include <algorithm>
#include <array>
#include <cmath>

#include "base/half_floats.h"
#include "base/index.h"
#include "engine/io/onnx/element_type.h"
#include "engine/io/onnx/folds/constant_tensor.h"
#include "engine/io/onnx/folds/folds.h"

namespace moil::onnx {
namespace {

// The nearest whole number that there is room for; 0 for what is no number.
std::int64_t whole(double value) {
  constexpr double kLimit = 9.2e18;
  return std::isnan(value) ? 0 : static_cast<std::int64_t>(std::clamp(value, -kLimit, kLimit));
}

// The dims that numpy's broadcasting gives these.
TensorDims joined(const Node& node, const TensorDims& a, const TensorDims& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  TensorDims dims(rank, 1);
  for (std::size_t k = 1; k <= rank; ++k) {
    const std::int64_t x = k <= a.size() ? a[a.size() - k] : 1;
    const std::int64_t y = k <= b.size() ? b[b.size() - k] : 1;
    if (x != y && x != 1 && y != 1) bad_fold(node, "its inputs' shapes do not fit together");
    dims[rank - k] = x == 1 ? y : x;
  }
  return dims;
}

// How far each axis of `dims` advances in a tensor that is broadcast to them.
TensorDims steps_in(const TensorDims& own, const TensorDims& dims) {
  const TensorDims strides = strides_of(own);
  TensorDims steps(dims.size(), 0);
  for (std::size_t k = 1; k <= own.size(); ++k)
    if (own[own.size() - k] != 1) steps[dims.size() - k] = strides[own.size() - k];
  return steps;
}

// Elementwise with numpy's broadcasting.
Tensor binary(const Node& node, FoldInputs inputs, const auto& on_floats, const auto& on_ints) {
  const Tensor &a = required(node, inputs, 0), &b = required(node, inputs, 1);
  if (a.is_float != b.is_float) bad_fold(node, "its inputs are of different types");
  const TensorDims dims = joined(node, a.dims, b.dims);
  const TensorDims a_steps = steps_in(a.dims, dims), b_steps = steps_in(b.dims, dims);
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

// Of any number of inputs, the one that is `before` the others at each place; NaN before all.
Tensor extreme(const Node& node, FoldInputs inputs, const auto& before) {
  Tensor best = required(node, inputs, 0);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const std::array<const Tensor*, 2> both = {&best, inputs[i]};
    best = binary(
        node, both, [&](float a, float b) { return before(a, b) || std::isnan(a) ? a : b; },
        [&](std::int64_t a, std::int64_t b) { return before(a, b) ? a : b; });
  }
  return best;
}

Tensor unary(const Node& node, FoldInputs inputs, const auto& function) {
  Tensor to = required(node, inputs, 0);
  for (float& v : to.floats) v = static_cast<float>(function(static_cast<double>(v)));
  for (std::int64_t& v : to.ints) v = whole(function(static_cast<double>(v)));
  return to;
}

float rounded(float value, ElementType type) {
  if (type == ElementType::kFloat16) return from_f16(to_f16(value));
  return type == ElementType::kBfloat16 ? from_bf16(to_bf16(value)) : value;
}

// What the type keeps of it: its lowest bits, or whether it is 0.
std::int64_t narrowed(std::int64_t value, ElementType type) {
  switch (type) {
    case ElementType::kBool:
      return value != 0;
    case ElementType::kInt8:
      return static_cast<std::int8_t>(value);
    case ElementType::kUint8:
      return static_cast<std::uint8_t>(value);
    case ElementType::kInt16:
      return static_cast<std::int16_t>(value);
    case ElementType::kUint16:
      return static_cast<std::uint16_t>(value);
    case ElementType::kInt32:
      return static_cast<std::int32_t>(value);
    case ElementType::kUint32:
      return static_cast<std::uint32_t>(value);
    default:
      return value;
  }
}

// Whole numbers wrap as the machine's do, without being undefined.
std::int64_t wrapped(std::uint64_t value) { return static_cast<std::int64_t>(value); }
std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

}  // namespace

namespace folds {

// Numbers are as their type has them: rounded, cut off, wrapped, or a truth value.
Tensor cast(const Node& node, FoldInputs inputs) {
  const Tensor& from = required(node, inputs, 0);
  const ElementType type = cast_type(node);
  Tensor to;
  to.dims = from.dims;
  to.is_float = is_float(type);
  for (const float v : from.floats) {
    if (to.is_float)
      to.floats.push_back(rounded(v, type));
    else
      to.ints.push_back(type == ElementType::kBool ? v != 0
                                                   : narrowed(whole(static_cast<double>(v)), type));
  }
  for (const std::int64_t v : from.ints) {
    if (type == ElementType::kUint64 && v < 0) bad_fold(node, "a number of 64 bits with no sign");
    if (to.is_float)
      to.floats.push_back(rounded(static_cast<float>(v), type));
    else
      to.ints.push_back(narrowed(v, type));
  }
  return to;
}

Tensor expand(const Node& node, FoldInputs inputs) {
  const Tensor& from = required(node, inputs, 0);
  const TensorDims dims = joined(node, from.dims, ints(node, inputs, 1));
  const TensorDims steps = steps_in(from.dims, dims);
  return picked(node, from, dims, [&](std::int64_t i) { return walk(i, dims, steps); });
}

Tensor where(const Node& node, FoldInputs inputs) {
  const Tensor &a = required(node, inputs, 1), &b = required(node, inputs, 2);
  const std::vector<std::int64_t>& condition = ints(node, inputs, 0);
  if (a.is_float != b.is_float) bad_fold(node, "its inputs are of different types");
  const TensorDims& own = required(node, inputs, 0).dims;
  const TensorDims dims = joined(node, own, joined(node, a.dims, b.dims));
  const TensorDims steps = steps_in(own, dims), a_steps = steps_in(a.dims, dims),
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

Tensor add(const Node& node, FoldInputs inputs) {
  return binary(
      node, inputs, [](float a, float b) { return a + b; },
      [](std::int64_t a, std::int64_t b) { return wrapped(bits(a) + bits(b)); });
}

Tensor subtract(const Node& node, FoldInputs inputs) {
  return binary(
      node, inputs, [](float a, float b) { return a - b; },
      [](std::int64_t a, std::int64_t b) { return wrapped(bits(a) - bits(b)); });
}

Tensor multiply(const Node& node, FoldInputs inputs) {
  return binary(
      node, inputs, [](float a, float b) { return a * b; },
      [](std::int64_t a, std::int64_t b) { return wrapped(bits(a) * bits(b)); });
}

Tensor divide(const Node& node, FoldInputs inputs) {
  return binary(
      node, inputs, [](float a, float b) { return a / b; },
      [&](std::int64_t a, std::int64_t b) {
        if (b == 0) bad_fold(node, "a division by zero");
        return b == -1 ? wrapped(0 - bits(a)) : a / b;
      });
}

Tensor maximum(const Node& node, FoldInputs inputs) {
  return extreme(node, inputs, [](auto a, auto b) { return a > b; });
}

Tensor minimum(const Node& node, FoldInputs inputs) {
  return extreme(node, inputs, [](auto a, auto b) { return a < b; });
}

// Of a list of whole numbers, as sizes are.
Tensor product(const Node& node, FoldInputs inputs) {
  const Tensor& from = required(node, inputs, 0);
  if (from.is_float || from.dims.size() != 1)
    bad_fold(node, "only the product of a list of whole numbers is supported");
  std::uint64_t all = 1;
  for (const std::int64_t v : from.ints) all *= bits(v);
  const bool keeps = node.integer("keepdims", 1) != 0;
  return Tensor::of_ints(keeps ? TensorDims{1} : TensorDims{}, {wrapped(all)});
}

// As Python has it, the sign being the divisor's; with fmod as C has it.
Tensor modulo(const Node& node, FoldInputs inputs) {
  const bool as_c = node.integer("fmod", 0) != 0;
  const auto of_floats = [&](float a, float b) {
    if (!as_c) bad_fold(node, "fmod = 0 is for whole numbers alone");
    return std::fmod(a, b);
  };
  return binary(node, inputs, of_floats, [&](std::int64_t a, std::int64_t b) -> std::int64_t {
    if (b == 0) bad_fold(node, "a division by zero");
    if (b == -1) return 0;
    const std::int64_t rest = a % b;
    return !as_c && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  });
}

// The exponent may be of another type.
Tensor power(const Node& node, FoldInputs inputs) {
  Tensor exponent = required(node, inputs, 1);
  const bool is_float = required(node, inputs, 0).is_float;
  if (exponent.is_float != is_float) {
    if (is_float)
      exponent.floats.assign(exponent.ints.begin(), exponent.ints.end());
    else
      for (const float v : exponent.floats) exponent.ints.push_back(whole(static_cast<double>(v)));
    exponent.is_float = is_float;
  }
  const std::array<const Tensor*, 2> both = {inputs[0], &exponent};
  return binary(
      node, both, [](float a, float b) { return std::pow(a, b); },
      [](std::int64_t a, std::int64_t b) {
        return whole(std::pow(static_cast<double>(a), static_cast<double>(b)));
      });
}

Tensor negation(const Node& node, FoldInputs inputs) {
  Tensor to = required(node, inputs, 0);
  if (to.is_float) bad_fold(node, "its input is not of truth values");
  for (std::int64_t& v : to.ints) v = v == 0 ? 1 : 0;
  return to;
}

Tensor equal(const Node& node, FoldInputs inputs) {
  Tensor to = binary(
      node, inputs, [](float a, float b) { return a == b ? 1.0F : 0.0F; },
      [](std::int64_t a, std::int64_t b) { return a == b ? 1 : 0; });
  if (to.is_float) to.ints.assign(to.floats.begin(), to.floats.end());
  to.floats.clear();
  to.is_float = false;
  return to;
}

Tensor ceil(const Node& node, FoldInputs inputs) {
  return unary(node, inputs, [](double v) { return std::ceil(v); });
}

Tensor floor(const Node& node, FoldInputs inputs) {
  return unary(node, inputs, [](double v) { return std::floor(v); });
}

Tensor negate(const Node& node, FoldInputs inputs) {
  Tensor to = required(node, inputs, 0);
  for (float& v : to.floats) v = -v;
  for (std::int64_t& v : to.ints) v = wrapped(0 - bits(v));
  return to;
}

Tensor square_root(const Node& node, FoldInputs inputs) {
  return unary(node, inputs, [](double v) { return std::sqrt(v); });
}

}  // namespace folds
}  // namespace moil::onnx
