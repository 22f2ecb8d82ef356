// Activations and arithmetic, with the chains of nodes that mean one activation.
#include <cmath>
#include <limits>

#include "engine/io/onnx/constant_folding.h"
#include "engine/io/onnx/operators.h"

namespace moil::onnx {
namespace {

bool near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::max(1.0, std::abs(b)); }

// Marks the node's output as `form` of x, for the nodes behind it.
void mark(ImportState& state, const Node& node, Form form, const std::string& of) {
  Value value = *state.find(node.outputs[0]);
  value.form = form;
  value.of = of;
  state.set(node.outputs[0], std::move(value));
}

template <const char* kType>
void import_activation(ImportState& state, const Node& node) {
  state.add_layer(node, kType, {&state.data(node, 0)});
}

constexpr char kRelu[] = "relu", kTanh[] = "tanh", kHardSwish[] = "hard_swish";

void import_sigmoid(ImportState& state, const Node& node) {
  const std::string x = state.data(node, 0).layer;
  state.add_layer(node, "sigmoid", {&state.data(node, 0)});
  mark(state, node, Form::kSigmoid, x);
}

void import_leaky_relu(ImportState& state, const Node& node) {
  state.add_layer(node, "leaky_relu", {&state.data(node, 0)},
                  {{"slope", tidy(node.number("alpha", 0.01))}});
}

void import_hard_sigmoid(ImportState& state, const Node& node) {
  if (!near(node.number("alpha", 0.2), 1.0 / 6) || !near(node.number("beta", 0.5), 0.5))
    throw Unsupported("only alpha = 1/6 and beta = 1/2 are supported");
  const std::string x = state.data(node, 0).layer;
  state.add_layer(node, "hard_sigmoid", {&state.data(node, 0)});
  mark(state, node, Form::kHardSigmoid, x);
}

void import_gelu(ImportState& state, const Node& node) {
  if (node.word("approximate", "none") != "none")
    throw Unsupported("only the exact GELU is supported");
  state.add_layer(node, "gelu", {&state.data(node, 0)});
}

// A limit of Clip: an attribute until opset 10, an input since.
double limit(const ImportState& state, const Node& node, std::size_t input, const char* attribute,
             double fallback) {
  const Tensor* given = state.optional_constant(node, input);
  if (given == nullptr) return node.number(attribute, fallback);
  if (given->elements() != 1 || !given->is_float) throw Unsupported("its limits are not numbers");
  return static_cast<double>(given->floats[0]);
}

void import_clip(ImportState& state, const Node& node) {
  const Value& x = state.data(node, 0);
  constexpr double kNone = std::numeric_limits<float>::max();
  const double least = limit(state, node, 1, "min", -kNone);
  const double most = limit(state, node, 2, "max", kNone);
  if (least != 0 || (most != 6 && most < kNone))
    throw Unsupported("only 0 to 6, or 0 and no limit above, are supported, not " +
                      std::to_string(least) + " to " + std::to_string(most));
  const Form form = x.form;
  const std::string of = x.of;
  state.add_layer(node, most == 6 ? "relu6" : "relu", {&x});
  if (most == 6 && form == Form::kPlusThree) mark(state, node, Form::kClipped, of);
}

void import_softmax(ImportState& state, const Node& node) {
  const Value& x = state.data(node, 0);
  const std::size_t rank = x.info.dims.rank();
  const std::int64_t axis = node.integer("axis", state.opset() < 13 ? 1 : -1);
  if (rank != 2 || axis_of(node, axis, rank) != 1)
    throw Unsupported("only softmax over the classes is supported");
  state.add_layer(node, "softmax", {&x});
}

void import_dropout(ImportState& state, const Node& node) {
  const Tensor* ratio = state.optional_constant(node, 1);
  const double rate = ratio != nullptr && ratio->is_float && ratio->elements() == 1
                          ? static_cast<double>(ratio->floats[0])
                          : node.number("ratio", 0.5);
  state.add_layer(node, "dropout", {&state.data(node, 0)}, {{"rate", tidy(rate)}});
}

void import_identity(ImportState& state, const Node& node) {
  state.alias(node, state.padded_data(node, 0));
}

// One number for all elements, or one a channel.
struct Constant {
  std::vector<float> values;
  bool is(double number) const {
    return values.size() == 1 && near(static_cast<double>(values[0]), number);
  }
};

Constant channel_constant(const Tensor& tensor, const Value& x) {
  if (!tensor.is_float) throw Unsupported("arithmetic with whole numbers");
  if (tensor.elements() == 1) return {tensor.floats};
  const ::moil::Dims& dims = x.info.dims;
  const std::size_t rank = tensor.dims.size();
  const std::size_t behind = dims.rank() == 4 ? 2 : 0;  // rows and columns
  bool fits = dims.rank() >= 2 && rank > behind && tensor.elements() == dims[1];
  for (std::size_t k = 0; fits && k < rank; ++k)
    fits = tensor.dims[k] == (k + behind + 1 == rank ? dims[1] : 1);
  if (!fits) throw Unsupported("only constants of one number, or one a channel, are supported");
  return {tensor.floats};
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
  const std::int64_t channels = x.info.dims[1];
  state.spend(node, channels);
  before->properties["bias"] = true;
  state.add_weight(before->name, "bias", {{channels}, spread(bias.values, channels)});
  state.alias(node, x);
  return true;
}

// y = scale x + shift, channel by channel: a convolution of one pixel.
void add_affine(ImportState& state, const Node& node, const Value& x,
                const std::vector<float>& scale, const std::vector<float>& shift) {
  if (x.info.dims.rank() != 4)
    throw Unsupported("arithmetic with constants is supported on images alone");
  const std::int64_t channels = x.info.dims[1];
  state.spend(node, 2 * channels);
  state.add_layer(node, "conv2d", {&x},
                  {{"out_channels", channels},
                   {"kernel", std::int64_t{1}},
                   {"groups", channels},
                   {"bias", true}},
                  {{"weight", {{channels, 1, 1, 1}, spread(scale, channels)}},
                   {"bias", {{channels}, spread(shift, channels)}}});
}

void add_constant(ImportState& state, const Node& node, std::size_t input, const Constant& c) {
  if (add_bias(state, node, input, c)) return;
  const Value x = state.data(node, input);
  add_affine(state, node, x, {1.0F}, c.values);
  if (c.is(3)) mark(state, node, Form::kPlusThree, x.layer);
}

// A sixth of what an earlier node made may be the end of an activation.
void multiply_constant(ImportState& state, const Node& node, const Value& x, const Constant& c) {
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
  add_affine(state, node, x, c.values, {0.0F});
}

void import_add(ImportState& state, const Node& node) {
  for (const std::size_t c : {1U, 0U}) {
    if (!state.is_constant(node, c)) continue;
    return add_constant(state, node, 1 - c,
                        channel_constant(state.constant(node, c), state.data(node, 1 - c)));
  }
  state.add_layer(node, "add", {&state.data(node, 0), &state.data(node, 1)});
}

void import_sub(ImportState& state, const Node& node) {
  Constant c = channel_constant(state.constant(node, 1), state.data(node, 0));
  for (float& v : c.values) v = -v;
  add_constant(state, node, 0, c);
}

void import_div(ImportState& state, const Node& node) {
  const Value x = state.data(node, 0);
  Constant c = channel_constant(state.constant(node, 1), x);
  for (float& v : c.values) v = 1 / v;
  multiply_constant(state, node, x, c);
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

void import_mul(ImportState& state, const Node& node) {
  for (const std::size_t c : {1U, 0U}) {
    if (!state.is_constant(node, c)) continue;
    const Value x = state.data(node, 1 - c);
    return multiply_constant(state, node, x, channel_constant(state.constant(node, c), x));
  }
  Value a = state.data(node, 0), b = state.data(node, 1);
  if (multiply_by_own(state, node, a, b) || multiply_by_own(state, node, b, a)) return;
  if (b.info.dims.elements() > a.info.dims.elements()) std::swap(a, b);
  state.add_layer(node, "multiply", {&a, &b});
}

}  // namespace

void add_elementwise_operators(Operators& operators) {
  operators.insert({{"Relu", import_activation<kRelu>},
                    {"Tanh", import_activation<kTanh>},
                    {"HardSwish", import_activation<kHardSwish>},
                    {"Sigmoid", import_sigmoid},
                    {"HardSigmoid", import_hard_sigmoid},
                    {"LeakyRelu", import_leaky_relu},
                    {"Gelu", import_gelu},
                    {"Clip", import_clip},
                    {"Softmax", import_softmax},
                    {"Dropout", import_dropout},
                    {"Identity", import_identity},
                    {"Cast", import_identity},
                    {"Add", import_add},
                    {"Sub", import_sub},
                    {"Mul", import_mul},
                    {"Div", import_div}});
}

}  // namespace moil::onnx
