// Sums, differences, products and quotients: of tensors, and with constants.
#include <cmath>

#include "engine/io/onnx/operators/arithmetic.h"
#include "engine/io/onnx/operators/operators.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

// The index of the constant among two inputs; 2 if there is none.
std::size_t constant_input(const ImportState& state, const Node& node) {
  if (node.inputs.size() != 2) throw Unsupported("it has not two inputs");
  return state.is_constant(node, 1) ? 1 : state.is_constant(node, 0) ? 0 : 2;
}

// A line makes one of the other; else both are as in the file.
void agree_on_view(ImportState& state, Value& a, Value& b) {
  Value& other = a.is_line() ? b : a;
  const Value& line = a.is_line() ? a : b;
  const bool may_be =
      other.view == View::kWhole && file_dims(other) == file_dims(line) && other.batch_axis == 0;
  if (line.view == View::kOneRow && may_be) other = state.as_line(other);
  if (a.view == b.view) return;
  a = state.as_rows(a);
  b = state.as_rows(b);
}

// Both get one layout and have the batch in one place.
void agree(ImportState& state, Value& a, Value& b) {
  if (a.view != b.view) agree_on_view(state, a, b);
  if (a.batch_axis != b.batch_axis && file_dims(a) != file_dims(b))
    throw Unsupported("its inputs do not fit together");
  if (a.is_image() == b.is_image() || a.info.dims.rank() != b.info.dims.rank()) return;
  (a.is_image() ? b : a) = state.as_image(a.is_image() ? b : a);
}

// One number a sample, in a file of as many axes as x has there, at each place of x: a pixel that
// becomes an image.
Value spread_over(ImportState& state, const Node& node, const Value& one, const Value& x) {
  const auto dims = x.info.dims.values();
  const std::int64_t size = x.info.dims.elements() / x.info.dims[0];
  Value v = state.add_layer(node, "reshape", {&one},
                            {{"dims", Ints{1, 1, 1}}, {"layout", std::string("channels_last")}});
  auto rows = static_cast<std::int64_t>(std::sqrt(static_cast<double>(size)));
  while (size % rows != 0) --rows;  // a resize has limits along each side
  v = state.add_layer(node, "resize", {&v}, {{"size", Ints{rows, size / rows}}});
  Properties shape = {{"dims", Ints(dims.begin() + 1, dims.end())}};
  if (dims.size() == 4) shape["layout"] = std::string(x.is_image() ? "channels_last" : "plain");
  v = state.add_layer(node, "reshape", {&v}, std::move(shape));
  v.view = x.view;
  v.batch_axis = x.batch_axis;
  return v;
}

// Both get the dims of the larger, if the other is one number a sample. What has no batch in the
// file may have fewer axes there.
void broadcast(ImportState& state, const Node& node, Value& a, Value& b) {
  const auto is_one = [](const Value& v) { return v.info.dims.elements() == v.info.dims[0]; };
  if (is_one(a) == is_one(b)) return;
  Value& one = is_one(a) ? a : b;
  const Value& other = is_one(a) ? b : a;
  const std::size_t rank = file_dims(one).size(), others = file_dims(other).size();
  if (rank == others || (rank < others && one.batch_axis < 0))
    one = spread_over(state, node, one, other);
}

void import_add(ImportState& state, const Node& node) {
  const std::size_t c = constant_input(state, node);
  if (c < 2) {
    const Value& x = state.unfinished_data(node, 1 - c);
    if (x.form == Form::kPending) return mark_pending(state, node, x);
    return add_constant(state, node, 1 - c, constant_of(state, node, c, x));
  }
  join(state, node, "add", state.pixels(node, 0), state.pixels(node, 1));
}

void import_sub(ImportState& state, const Node& node) {
  const std::size_t at = constant_input(state, node);
  if (at == 1) {
    Constant c = constant_of(state, node, 1, state.unfinished_data(node, 0));
    for (float& v : c.values) v = -v;
    c.trained = c.trained && !is_mask(c.values);
    return add_constant(state, node, 0, c);
  }
  if (is_centred(state, node)) return mark_pending(state, node, state.unfinished_data(node, 0));
  const Value b = state.pixels(node, 1);
  const Value negative = state.add_layer(node, "scale", {&b}, {{"factor", -1.0}});
  if (at == 2) {
    join(state, node, "add", state.pixels(node, 0), negative);
    return;
  }
  Node sum = node;
  sum.inputs[1] = node.outputs[0];
  add_constant(state, sum, 1, constant_of(state, node, 0, b));
}

// x times a function of x that makes one activation of both.
bool multiply_by_own(ImportState& state, const Node& node, const Value& x, const Value& gate) {
  if (gate.of != x.layer) return false;
  if (gate.form == Form::kSigmoid) {
    state.add_layer(node, "silu", {&x});
  } else if (gate.form == Form::kHardSigmoid) {
    state.add_layer(node, "hard_swish", {&x});
  } else if (gate.form == Form::kTanhSoftplus) {
    state.add_layer(node, "mish", {&x});
  } else if (gate.form == Form::kClipped) {
    state.add_layer(node, "multiply", {&x, &gate});
    mark(state, node, Form::kTimesClipped, x.layer);
  } else {
    return false;
  }
  return true;
}

void multiply_values(ImportState& state, const Node& node, Value a, Value b) {
  if (multiply_by_own(state, node, a, b) || multiply_by_own(state, node, b, a)) return;
  if (b.info.dims.elements() > a.info.dims.elements()) std::swap(a, b);
  if (!a.is_image() || a.info.dims[1] > 1) broadcast(state, node, a, b);
  agree(state, a, b);
  state.add_layer(node, "multiply", {&a, &b});
}

void import_mul(ImportState& state, const Node& node) {
  const std::size_t c = constant_input(state, node);
  if (import_gelu_chain(state, node)) return;
  for (const std::size_t i : {0U, 1U})
    if (is_pending(state, node, i))
      return mark_pending(state, node, state.unfinished_data(node, i));
  if (c < 2)
    return multiply_constant(state, node, 1 - c,
                             constant_of(state, node, c, state.unfinished_data(node, 1 - c)));
  multiply_values(state, node, state.pixels(node, 0), state.pixels(node, 1));
}

void import_div(ImportState& state, const Node& node) {
  if (import_norm_chain(state, node)) return;
  const std::size_t at = constant_input(state, node);
  if (at == 1) {
    Constant c = constant_of(state, node, 1, state.unfinished_data(node, 0));
    for (float& v : c.values) v = 1 / v;
    return multiply_constant(state, node, 0, c);
  }
  const Value divisor = state.pixels(node, 1);
  const Value inverse = state.add_layer(node, "reciprocal", {&divisor});
  if (at == 2) return multiply_values(state, node, state.pixels(node, 0), inverse);
  const Constant c = constant_of(state, node, 0, divisor);
  if (c.is(1)) return;
  Node product = node;
  product.inputs = {node.inputs[0], node.outputs[0]};
  multiply_constant(state, product, 1, c);
}

void import_reciprocal(ImportState& state, const Node& node) {
  state.add_layer(node, "reciprocal", {&state.pixels(node, 0)});
}

void import_neg(ImportState& state, const Node& node) {
  state.add_layer(node, "scale", {&state.pixels(node, 0)}, {{"factor", -1.0}});
}

void import_pow(ImportState& state, const Node& node) {
  if (is_pending(state, node, 0)) return mark_pending(state, node, state.unfinished_data(node, 0));
  const Value x = state.pixels(node, 0);
  const Tensor& given = state.constant(node, 1);
  if (given.elements() != 1 || given.dims.size() > file_dims(x).size())
    throw Unsupported("its exponent is not one number");
  const double exponent =
      given.is_float ? shortest(given.floats[0]) : static_cast<double>(given.ints[0]);
  if (exponent != 2 && exponent != 3) {
    state.add_layer(node, "power", {&x}, {{"exponent", exponent}});
    return;
  }
  const Value square = state.add_layer(node, "multiply", {&x, &x});
  if (exponent == 3) state.add_layer(node, "multiply", {&square, &x});
}

void import_sqrt(ImportState& state, const Node& node) {
  if (is_pending(state, node, 0)) return mark_pending(state, node, state.unfinished_data(node, 0));
  state.add_layer(node, "power", {&state.pixels(node, 0)}, {{"exponent", 0.5}});
}

// Takes any number of tensors of the same dims.
void import_sum(ImportState& state, const Node& node) {
  if (node.inputs.size() == 2) return import_add(state, node);
  if (node.inputs.size() == 1) return state.alias(node, state.pixels(node, 0));
  std::vector<Value> values;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    values.push_back(state.pixels(node, i));
    agree(state, values[0], values[i]);
  }
  std::vector<const Value*> from;
  for (Value& value : values) {
    agree(state, values[0], value);
    from.push_back(&value);
  }
  if (from.empty()) throw Unsupported("it has no inputs");
  state.add_layer(node, "add", from);
}

void import_mean(ImportState& state, const Node& node) {
  import_sum(state, node);
  if (node.inputs.size() < 2) return;
  const Value sum = *state.find(node.outputs[0]);
  const double share = 1 / static_cast<double>(node.inputs.size());
  state.add_layer(node, "scale", {&sum}, {{"factor", share}});
}

// Parts of chains alone.
void import_part(ImportState& state, const Node& node) {
  mark_pending(state, node, state.unfinished_data(node, 0));
}

}  // namespace

Value join(ImportState& state, const Node& node, const std::string& type, Value a, Value b) {
  broadcast(state, node, a, b);
  agree(state, a, b);
  return state.add_layer(node, type, {&a, &b});
}

void add_arithmetic_operators(Operators& operators) {
  operators.insert({{"Add", import_add},
                    {"Sum", import_sum},
                    {"Mean", import_mean},
                    {"Sub", import_sub},
                    {"Mul", import_mul},
                    {"Div", import_div},
                    {"Reciprocal", import_reciprocal},
                    {"Neg", import_neg},
                    {"Pow", import_pow},
                    {"Erf", import_part},
                    {"Sqrt", import_sqrt}});
}

}  // namespace moil::onnx
