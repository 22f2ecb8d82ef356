// Activations.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "engine/io/onnx/element_type.h"
#include "engine/io/onnx/folds/constant_folding.h"
#include "engine/io/onnx/operators/arithmetic.h"
#include "engine/io/onnx/operators/operators.h"

namespace moil::onnx {
namespace {

template <const char* kType>
void import_activation(ImportState& state, const Node& node) {
  state.add_layer(node, kType, {&state.pixels(node, 0)});
}

constexpr char kReluLayer[] = "relu", kHardSwishLayer[] = "hard_swish", kMishLayer[] = "mish",
               kExpLayer[] = "exp", kLogLayer[] = "log";

// Functions of x that a product with x makes one activation of.
template <const char* kType, Form kForm>
void import_gate(ImportState& state, const Node& node) {
  const Value x = state.pixels(node, 0);
  state.add_layer(node, kType, {&x});
  mark(state, node, kForm, x.layer);
}

constexpr char kSigmoidLayer[] = "sigmoid", kSoftplusLayer[] = "softplus";

void import_tanh(ImportState& state, const Node& node) {
  const Value x = state.pixels(node, 0);
  state.add_layer(node, "tanh", {&x});
  if (x.form == Form::kSoftplus) mark(state, node, Form::kTanhSoftplus, x.of);
}

Value elu_of(ImportState& state, const Node& node, const Value& x, double alpha) {
  Properties properties;
  if (alpha != 1) properties["alpha"] = alpha;
  return state.add_layer(node, "elu", {&x}, std::move(properties));
}

void import_elu(ImportState& state, const Node& node) {
  (void)elu_of(state, node, state.pixels(node, 0), tidy(node.number("alpha", 1)));
}

Value scaled(ImportState& state, const Node& node, const Value& x, double factor) {
  return factor == 1 ? x : state.add_layer(node, "scale", {&x}, {{"factor", factor}});
}

void import_selu(ImportState& state, const Node& node) {
  const double alpha = tidy(node.number("alpha", 1.67326319217681884765625)),
               gamma = tidy(node.number("gamma", 1.05070102214813232421875));
  const Value x = elu_of(state, node, state.pixels(node, 0), alpha);
  state.alias(node, scaled(state, node, x, gamma));
}

void import_celu(ImportState& state, const Node& node) {
  const double alpha = tidy(node.number("alpha", 1));
  if (!(alpha > 0)) throw Unsupported("its alpha is not above 0");
  const Value x = elu_of(state, node, scaled(state, node, state.pixels(node, 0), 1 / alpha), 1);
  state.alias(node, scaled(state, node, x, alpha));
}

void import_leaky_relu(ImportState& state, const Node& node) {
  state.add_layer(node, "leaky_relu", {&state.pixels(node, 0)},
                  {{"slope", tidy(node.number("alpha", 0.01))}});
}

// With other numbers than PyTorch's it is a line and its limits.
void import_hard_sigmoid(ImportState& state, const Node& node) {
  const double alpha = node.number("alpha", 0.2), beta = node.number("beta", 0.5);
  const Value x = state.pixels(node, 0);
  if (near(alpha, 1.0 / 6) && near(beta, 0.5)) {
    state.add_layer(node, "hard_sigmoid", {&x});
    return mark(state, node, Form::kHardSigmoid, x.layer);
  }
  const Value steep = state.add_layer(node, "scale", {&x}, {{"factor", tidy(alpha)}});
  const Value raised = state.add_layer(node, "scale", {&steep}, {{"offset", tidy(beta)}});
  state.add_layer(node, "clip", {&raised}, {{"min", 0.0}, {"max", 1.0}});
}

void import_gelu(ImportState& state, const Node& node) {
  const std::string approximate = node.word("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    throw Unsupported("GELU approximated by " + approximate + " is not supported");
  state.add_layer(node, approximate == "none" ? "gelu" : "gelu_tanh", {&state.pixels(node, 0)});
}

// One slope for all, or one a channel.
void import_prelu(ImportState& state, const Node& node) {
  const Tensor& slope = state.constant(node, 1);
  const std::size_t rank = slope.dims.size();
  const std::int64_t count = slope.elements();
  const bool line = file_dims(state.pixels(node, 0)).size() == 3 && rank > 1 && count > 1 &&
                    slope.dims.back() == 1;
  Value x = line ? state.spatial(node, 0) : state.data(node, 0);
  bool fits = x.batch_axis == 0;
  for (std::size_t k = 0; fits && count > 1 && k < rank; ++k) {
    const std::size_t behind = line ? 1 : x.info.dims.rank() == 4 ? 2 : 0;  // rows and columns
    fits = slope.dims[k] == (k + behind + 1 == rank ? count : 1);
  }
  if (!fits) throw Unsupported("only one slope, or one a channel, is supported");
  if (count > 1 && !line && x.info.dims.rank() == 4) x = state.as_image(x);
  Properties properties;
  if (count == 1) properties["shared"] = true;
  state.add_layer(node, "prelu", {&x}, std::move(properties),
                  {{"weight", weight_of(slope, {count})}});
}

// A limit of Clip: an attribute until opset 10, an input since.
double limit(const ImportState& state, const Node& node, std::size_t input, const char* attribute,
             double fallback) {
  const Tensor* given = state.optional_constant(node, input);
  if (given == nullptr) return shortest(static_cast<float>(node.number(attribute, fallback)));
  if (given->elements() != 1 || !given->is_float) throw Unsupported("its limits are not numbers");
  return shortest(given->floats[0]);
}

constexpr double kNone = std::numeric_limits<float>::max();

void clip(ImportState& state, const Node& node, const Value& x, double least, double most) {
  if (std::isnan(least) || std::isnan(most)) throw Unsupported("its limits are not numbers");
  const bool low = least > -kNone, high = most < kNone;
  if (!low && !high) return state.alias(node, x);
  if (least == 0 && (most == 6 || !high)) {
    state.add_layer(node, most == 6 ? "relu6" : "relu", {&x});
    if (most == 6 && x.form == Form::kPlusThree) mark(state, node, Form::kClipped, x.of);
    return;
  }
  Properties properties;
  if (low) properties["min"] = least;
  if (high) properties["max"] = most;
  state.add_layer(node, "clip", {&x}, std::move(properties));
}

bool is_computed(const ImportState& state, const Node& node, std::size_t input) {
  return state.has(node, input) && !state.is_constant(node, input);
}

// A limit may be computed, of the largest number say; the upper one wins over the lower.
void import_clip(ImportState& state, const Node& node) {
  Value x = state.pixels(node, 0);
  const bool computed[] = {is_computed(state, node, 1), is_computed(state, node, 2)};
  const double least = computed[0] ? -kNone : limit(state, node, 1, "min", -kNone);
  const double most = computed[1] ? kNone : limit(state, node, 2, "max", kNone);
  if (computed[0]) x = join(state, node, "maximum", x, state.pixels(node, 1));
  if (!computed[1]) return clip(state, node, x, least, most);
  clip(state, node, x, least, kNone);
  join(state, node, "minimum", *state.find(node.outputs[0]), state.pixels(node, 2));
}

// The largest or smallest of values and numbers, one after the other.
template <bool kLargest>
void import_extreme(ImportState& state, const Node& node) {
  double least = -kNone, most = kNone;
  std::optional<Value> found;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!state.is_constant(node, i)) {
      const Value x = state.pixels(node, i);
      found = found ? join(state, node, kLargest ? "maximum" : "minimum", *found, x) : x;
      continue;
    }
    const Tensor& tensor = state.constant(node, i);
    if (tensor.elements() != 1 || !tensor.is_float)
      throw Unsupported("only limits of one number are supported");
    const double number = shortest(tensor.floats[0]);
    if (std::isnan(number)) throw Unsupported("its limits are not numbers");
    if (kLargest)
      least = std::max(least, number);
    else
      most = std::min(most, number);
  }
  if (!found) throw Unsupported("it has no inputs");
  clip(state, node, *found, least, most);
}

// Until opset 12 the axes behind counted, too: as one axis. The dims as they were are put back.
template <const char* kType>
bool softmax_of_several(ImportState& state, const Node& node, const Value& x, std::size_t axis) {
  const std::vector<std::int64_t> dims = file_dims(x);
  std::size_t behind = axis + 1;
  while (behind < dims.size() && dims[behind] == 1) ++behind;
  if (state.opset() >= 13 || behind == dims.size()) return false;
  (void)engine_axis(x, axis);
  if (x.batch_axis != 0) throw Unsupported("only softmax over one axis is supported");
  std::vector<std::int64_t> flat(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(axis));
  flat.push_back(1);
  for (std::size_t k = axis; k < dims.size(); ++k) flat.back() *= dims[k];
  state.set_dims(node, x, flat, 0);
  const Value rows = state.as_rows(*state.find(node.outputs[0]));
  const Value result = state.add_layer(node, kType, {&rows});
  state.set_dims(node, result, dims, 0);
  return true;
}

// Over the last axis, or over the channels of an image; another is turned to the end and back.
template <const char* kType>
void import_softmax(ImportState& state, const Node& node) {
  const Value x = state.data(node, 0);
  const std::size_t rank = file_dims(x).size();
  const std::int64_t wish = node.integer("axis", state.opset() < 13 ? 1 : -1);
  std::size_t axis = axis_of(node, wish, rank);
  if (softmax_of_several<kType>(state, node, x, axis)) return;
  axis = engine_axis(x, axis);
  if (axis != 1 || x.info.dims.rank() != 4) {
    (void)add_along(state, node, state.as_rows(x), axis, kType);
    return;
  }
  const Value image = state.as_image(x);
  state.add_layer(node, kType, {&image});
}

constexpr char kSoftmaxLayer[] = "softmax", kLogSoftmaxLayer[] = "log_softmax";

void import_dropout(ImportState& state, const Node& node) {
  const Tensor* ratio = state.optional_constant(node, 1);
  const double rate = ratio != nullptr && ratio->is_float && ratio->elements() == 1
                          ? static_cast<double>(ratio->floats[0])
                          : node.number("ratio", 0.5);
  state.add_layer(node, "dropout", {&state.pixels(node, 0)}, {{"rate", tidy(rate)}});
}

void import_identity(ImportState& state, const Node& node) {
  state.alias(node, state.unfinished_data(node, 0));
}

// Floats of any size are computed with 32 bits, and so are integers.
void import_cast(ImportState& state, const Node& node) {
  const bool of_integers = state.unfinished_data(node, 0).info.type == moil::ElementType::kInt32;
  if (of_integers && is_float(cast_type(node)))
    throw Unsupported("integers that become floats are not supported");
  if (!of_integers && !is_float(cast_type(node)))
    throw Unsupported("only constants can become whole numbers or truth values");
  import_identity(state, node);
}

}  // namespace

void add_elementwise_operators(Operators& operators) {
  operators.insert({{"Relu", import_activation<kReluLayer>},
                    {"Tanh", import_tanh},
                    {"Elu", import_elu},
                    {"Selu", import_selu},
                    {"Celu", import_celu},
                    {"Exp", import_activation<kExpLayer>},
                    {"Log", import_activation<kLogLayer>},
                    {"Mish", import_activation<kMishLayer>},
                    {"Softplus", import_gate<kSoftplusLayer, Form::kSoftplus>},
                    {"Max", import_extreme<true>},
                    {"Min", import_extreme<false>},
                    {"HardSwish", import_activation<kHardSwishLayer>},
                    {"Sigmoid", import_gate<kSigmoidLayer, Form::kSigmoid>},
                    {"HardSigmoid", import_hard_sigmoid},
                    {"LeakyRelu", import_leaky_relu},
                    {"PRelu", import_prelu},
                    {"Gelu", import_gelu},
                    {"Clip", import_clip},
                    {"Softmax", import_softmax<kSoftmaxLayer>},
                    {"LogSoftmax", import_softmax<kLogSoftmaxLayer>},
                    {"Dropout", import_dropout},
                    {"Identity", import_identity},
                    {"Cast", import_cast}});
}

}  // namespace moil::onnx
