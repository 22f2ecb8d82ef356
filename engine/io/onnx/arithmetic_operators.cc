// Sums, differences, products and quotients: of tensors, and with constants.
#include <cmath>

#include "engine/io/onnx/arithmetic.h"
#include "engine/io/onnx/operators.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

// A constant as it meets a value: one number, one a channel of an image, or one row that every
// row of the value meets.
struct Constant {
  enum class Kind { kNumber, kChannels, kRow } kind = Kind::kNumber;
  std::vector<float> values;
  Ints dims;  // of a row: the last of a sample's
  std::string name;

  bool is(double number) const {
    return kind == Kind::kNumber && near(static_cast<double>(values[0]), number);
  }
  NamedTensor weight() const { return {dims, values}; }
};

bool is_row(const Ints& sample, const Value& x) {
  const auto dims = x.info.dims.values();
  if (sample.empty() || sample.size() + 1 > dims.size()) return false;
  return std::equal(sample.rbegin(), sample.rend(), dims.rbegin());
}

Constant constant_of(const ImportState& state, const Node& node, std::size_t input,
                     const Value& x) {
  const Tensor& tensor = state.constant(node, input);
  if (!tensor.is_float) throw Unsupported("arithmetic with whole numbers");
  Constant c{Constant::Kind::kNumber, tensor.floats, {}, state.find(node.inputs[input])->source};
  if (tensor.elements() == 1) return c;
  const std::size_t rank = file_dims(x).size();
  Ints dims = tensor.dims;
  if (dims.size() < rank) dims.insert(dims.begin(), rank - dims.size(), 1);
  const bool channels =
      rank == 4 && x.batch_axis == 0 && dims.size() == 4 && dims == Ints{1, x.info.dims[1], 1, 1};
  c.kind = channels ? Constant::Kind::kChannels : Constant::Kind::kRow;
  if (channels) return c;
  const auto batch = static_cast<std::size_t>(std::max(x.batch_axis, 0));
  bool fits = dims.size() == rank && (x.batch_axis < 0 || dims[batch] == 1);
  if (fits && x.batch_axis >= 0) dims.erase(dims.begin() + x.batch_axis);
  while (fits && dims.size() > 1 && dims[0] == 1 && !is_row(dims, x)) dims.erase(dims.begin());
  if (!fits || !is_row(dims, x))
    throw Unsupported(
        "only constants of one number, one a channel, or of the last dimensions of a sample are "
        "supported");
  c.dims = std::move(dims);
  return c;
}

std::vector<float> spread(const std::vector<float>& values, std::int64_t channels) {
  return values.size() == 1 ? std::vector<float>(static_cast<std::size_t>(channels), values[0])
                            : values;
}

// A bias that was not there yet, of the layer before.
bool add_bias(ImportState& state, const Node& node, std::size_t input, const Constant& bias) {
  LayerDescription* before = state.sole_producer(node, input);
  if (before == nullptr || (before->type != "conv2d" && before->type != "fully_connected"))
    return false;
  if (!std::holds_alternative<bool>(before->properties["bias"]) ||
      std::get<bool>(before->properties["bias"]))
    return false;
  const Value x = state.data(node, input);
  const std::int64_t channels = x.is_image() ? x.info.dims[1] : x.info.dims.back();
  if (bias.kind == Constant::Kind::kRow && (x.is_image() || bias.dims != Ints{channels}))
    return false;
  state.spend(node, channels);
  before->properties["bias"] = true;
  state.add_weight(before->name, "bias", {{channels}, spread(bias.values, channels)});
  state.alias(node, x);
  return true;
}

// y = scale x + shift, channel by channel: a convolution of one pixel.
void add_affine(ImportState& state, const Node& node, const Value& x,
                const std::vector<float>& scale, const std::vector<float>& shift) {
  const Value image = state.as_image(x);
  const std::int64_t channels = image.info.dims[1];
  state.spend(node, 2 * channels);
  state.add_layer(node, "conv2d", {&image},
                  {{"out_channels", channels},
                   {"kernel", std::int64_t{1}},
                   {"groups", channels},
                   {"bias", true}},
                  {{"weight", {{channels, 1, 1, 1}, spread(scale, channels)}},
                   {"bias", {{channels}, spread(shift, channels)}}});
}

// The parameter is called as the file calls it.
void add_row(ImportState& state, const Node& node, const std::string& type, const Value& x,
             const Constant& c) {
  const Value rows = state.as_rows(x);
  state.add_layer(node, type, {&rows}, {{"dims", c.dims}}, {{"weight", c.weight()}},
                  parameter_of(c.name));
}

// Normalised rows and their shift are one layer.
bool shift_normalised(ImportState& state, const Node& node, std::size_t input, const Constant& c) {
  Value x = state.unfinished_data(node, input);
  const std::int64_t size = x.info.dims.back();
  if (x.form != Form::kNormalised || c.kind != Constant::Kind::kRow || c.dims != Ints{size})
    return false;
  std::vector<float> gamma(static_cast<std::size_t>(size), 1.0F);
  if (x.gamma) gamma = x.gamma->floats;
  x.form = Form::kPlain;
  state.add_layer(node, "layer_norm", {&x}, {{"epsilon", x.epsilon}},
                  {{"gamma", {{size}, std::move(gamma)}}, {"beta", c.weight()}},
                  owner_of(x.gamma_source));
  return true;
}

bool scale_normalised(ImportState& state, const Node& node, std::size_t input, const Constant& c) {
  Value x = state.unfinished_data(node, input);
  if (x.form != Form::kNormalised || x.gamma || c.kind != Constant::Kind::kRow ||
      c.dims != Ints{x.info.dims.back()})
    return false;
  x.gamma = std::make_shared<Tensor>(Tensor::of(c.dims, c.values));
  x.gamma_source = c.name;
  x.gamma_node = &node;
  state.set(node.outputs[0], std::move(x));
  return true;
}

void add_constant(ImportState& state, const Node& node, std::size_t input, const Constant& c) {
  if (shift_normalised(state, node, input, c) || add_bias(state, node, input, c)) return;
  const Value x = state.data(node, input);
  if (c.kind == Constant::Kind::kRow) return add_row(state, node, "add_parameter", x, c);
  if (c.kind == Constant::Kind::kChannels) return add_affine(state, node, x, {1.0F}, c.values);
  state.add_layer(node, "scale", {&x}, {{"offset", shortest(c.values[0])}});
  if (c.is(3)) mark(state, node, Form::kPlusThree, x.layer);
}

// A sixth of what an earlier node made may be the end of an activation.
void multiply_constant(ImportState& state, const Node& node, std::size_t input, const Constant& c) {
  if (scale_normalised(state, node, input, c)) return;
  const Value x = state.data(node, input);
  Value source = x;
  source.layer = x.of;
  if (c.is(1.0 / 6) && x.form == Form::kClipped) {
    state.add_layer(node, "hard_sigmoid", {&source});
    return mark(state, node, Form::kHardSigmoid, source.layer);
  }
  if (c.is(1.0 / 6) && x.form == Form::kTimesClipped) {
    state.add_layer(node, "hard_swish", {&source});
    return;
  }
  if (c.kind == Constant::Kind::kRow) return add_row(state, node, "multiply_parameter", x, c);
  if (c.kind == Constant::Kind::kChannels) return add_affine(state, node, x, c.values, {0.0F});
  state.add_layer(node, "scale", {&x}, {{"factor", shortest(c.values[0])}});
}

// The index of the constant among two inputs; 2 where there is none.
std::size_t constant_input(const ImportState& state, const Node& node) {
  if (node.inputs.size() != 2) throw Unsupported("it has not two inputs");
  return state.is_constant(node, 1) ? 1 : state.is_constant(node, 0) ? 0 : 2;
}

// Of one layout and with the batch in one place.
void agree(ImportState& state, Value& a, Value& b) {
  if (a.batch_axis != b.batch_axis && file_dims(a) != file_dims(b))
    throw Unsupported("its inputs do not fit together");
  if (a.is_image() == b.is_image() || a.info.dims.rank() != b.info.dims.rank()) return;
  (a.is_image() ? b : a) = state.as_image(a.is_image() ? b : a);
}

void import_add(ImportState& state, const Node& node) {
  const std::size_t c = constant_input(state, node);
  if (c < 2) {
    const Value& x = state.unfinished_data(node, 1 - c);
    if (x.form == Form::kPending) return mark_pending(state, node, x);
    return add_constant(state, node, 1 - c, constant_of(state, node, c, x));
  }
  Value a = state.data(node, 0), b = state.data(node, 1);
  agree(state, a, b);
  state.add_layer(node, "add", {&a, &b});
}

void import_sub(ImportState& state, const Node& node) {
  const std::size_t at = constant_input(state, node);
  if (at == 1) {
    Constant c = constant_of(state, node, 1, state.unfinished_data(node, 0));
    for (float& v : c.values) v = -v;
    return add_constant(state, node, 0, c);
  }
  if (is_centred(state, node)) return mark_pending(state, node, state.unfinished_data(node, 0));
  Value b = state.data(node, 1);
  Value negative = state.add_layer(node, "scale", {&b}, {{"factor", -1.0}});
  if (at == 2) {
    Value a = state.data(node, 0);
    agree(state, a, negative);
    state.add_layer(node, "add", {&a, &negative});
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
  agree(state, a, b);
  state.add_layer(node, "multiply", {&a, &b});
}

void import_mul(ImportState& state, const Node& node) {
  if (import_gelu_chain(state, node)) return;
  const std::size_t c = constant_input(state, node);
  for (const std::size_t i : {0U, 1U})
    if (is_pending(state, node, i))
      return mark_pending(state, node, state.unfinished_data(node, i));
  if (c < 2)
    return multiply_constant(state, node, 1 - c,
                             constant_of(state, node, c, state.unfinished_data(node, 1 - c)));
  multiply_values(state, node, state.data(node, 0), state.data(node, 1));
}

void import_div(ImportState& state, const Node& node) {
  if (import_norm_chain(state, node)) return;
  const std::size_t at = constant_input(state, node);
  if (at == 1) {
    Constant c = constant_of(state, node, 1, state.unfinished_data(node, 0));
    for (float& v : c.values) v = 1 / v;
    return multiply_constant(state, node, 0, c);
  }
  const Value divisor = state.data(node, 1);
  const Value inverse = state.add_layer(node, "reciprocal", {&divisor});
  if (at == 2) return multiply_values(state, node, state.data(node, 0), inverse);
  const Constant c = constant_of(state, node, 0, divisor);
  if (c.is(1)) return;
  Node product = node;
  product.inputs = {node.inputs[0], node.outputs[0]};
  multiply_constant(state, product, 1, c);
}

void import_reciprocal(ImportState& state, const Node& node) {
  state.add_layer(node, "reciprocal", {&state.data(node, 0)});
}

void import_neg(ImportState& state, const Node& node) {
  state.add_layer(node, "scale", {&state.data(node, 0)}, {{"factor", -1.0}});
}

void import_pow(ImportState& state, const Node& node) {
  if (is_pending(state, node, 0)) return mark_pending(state, node, state.unfinished_data(node, 0));
  const Value x = state.data(node, 0);
  if (!is_number(state, node, 1, 2)) throw Unsupported("only squares are supported");
  state.add_layer(node, "multiply", {&x, &x});
}

// Parts of chains alone.
void import_part(ImportState& state, const Node& node) {
  mark_pending(state, node, state.unfinished_data(node, 0));
}

}  // namespace

void add_arithmetic_operators(Operators& operators) {
  operators.insert({{"Add", import_add},
                    {"Sub", import_sub},
                    {"Mul", import_mul},
                    {"Div", import_div},
                    {"Reciprocal", import_reciprocal},
                    {"Neg", import_neg},
                    {"Pow", import_pow},
                    {"Erf", import_part},
                    {"Sqrt", import_part}});
}

}  // namespace moil::onnx
