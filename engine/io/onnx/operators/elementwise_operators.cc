// Activations.
#include <cmath>
#include <limits>

#include "engine/io/onnx/element_type.h"
#include "engine/io/onnx/folds/constant_folding.h"
#include "engine/io/onnx/operators/arithmetic.h"
#include "engine/io/onnx/operators/operators.h"

namespace moil::onnx {
namespace {

template <const char* kType>
void import_activation(ImportState& state, const Node& node) {
  state.add_layer(node, kType, {&state.data(node, 0)});
}

constexpr char kReluLayer[] = "relu", kTanhLayer[] = "tanh", kHardSwishLayer[] = "hard_swish";

void import_sigmoid(ImportState& state, const Node& node) {
  const std::string x = state.data(node, 0).layer;
  state.add_layer(node, "sigmoid", {&state.data(node, 0)});
  mark(state, node, Form::kSigmoid, x);
}

void import_leaky_relu(ImportState& state, const Node& node) {
  state.add_layer(node, "leaky_relu", {&state.data(node, 0)},
                  {{"slope", tidy(node.number("alpha", 0.01))}});
}

// With other numbers than PyTorch's it is a line and its limits.
void import_hard_sigmoid(ImportState& state, const Node& node) {
  const double alpha = node.number("alpha", 0.2), beta = node.number("beta", 0.5);
  const Value x = state.data(node, 0);
  if (near(alpha, 1.0 / 6) && near(beta, 0.5)) {
    state.add_layer(node, "hard_sigmoid", {&x});
    return mark(state, node, Form::kHardSigmoid, x.layer);
  }
  const Value steep = state.add_layer(node, "scale", {&x}, {{"factor", tidy(alpha)}});
  const Value raised = state.add_layer(node, "scale", {&steep}, {{"offset", tidy(beta)}});
  state.add_layer(node, "clip", {&raised}, {{"min", 0.0}, {"max", 1.0}});
}

void import_gelu(ImportState& state, const Node& node) {
  if (node.word("approximate", "none") != "none")
    throw Unsupported("only the exact GELU is supported");
  state.add_layer(node, "gelu", {&state.data(node, 0)});
}

// One slope for all, or one a channel.
void import_prelu(ImportState& state, const Node& node) {
  Value x = state.data(node, 0);
  const Tensor& slope = state.constant(node, 1);
  const std::size_t rank = slope.dims.size();
  const std::int64_t count = slope.elements();
  bool fits = x.batch_axis == 0;
  for (std::size_t k = 0; fits && count > 1 && k < rank; ++k) {
    const std::size_t behind = x.info.dims.rank() == 4 ? 2 : 0;  // rows and columns
    fits = slope.dims[k] == (k + behind + 1 == rank ? count : 1);
  }
  if (!fits) throw Unsupported("only one slope, or one a channel, is supported");
  if (count > 1 && x.info.dims.rank() == 4) x = state.as_image(x);
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

void import_clip(ImportState& state, const Node& node) {
  const Value x = state.data(node, 0);
  constexpr double kNone = std::numeric_limits<float>::max();
  const double least = limit(state, node, 1, "min", -kNone);
  const double most = limit(state, node, 2, "max", kNone);
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

// Over the last axis, or over the channels of an image. Until opset 12 the axes behind counted too.
Value softmax_input(ImportState& state, const Node& node) {
  const Value& x = state.data(node, 0);
  const std::vector<std::int64_t> dims = file_dims(x);
  const std::int64_t wish = node.integer("axis", state.opset() < 13 ? 1 : -1);
  std::size_t axis = axis_of(node, wish, dims.size());
  if (state.opset() < 13) {
    std::size_t behind = axis + 1;
    while (behind < dims.size() && dims[behind] == 1) ++behind;
    if (behind < dims.size()) throw Unsupported("only softmax over one axis is supported");
  }
  axis = engine_axis(x, axis);
  if (axis + 1 == x.info.dims.rank()) return state.as_rows(x);
  if (axis == 1 && x.info.dims.rank() == 4) return state.as_image(x);
  throw Unsupported("only softmax over the last axis, or over channels, is supported");
}

template <const char* kType>
void import_softmax(ImportState& state, const Node& node) {
  const Value x = softmax_input(state, node);
  state.add_layer(node, kType, {&x});
}

constexpr char kSoftmaxLayer[] = "softmax", kLogSoftmaxLayer[] = "log_softmax";

void import_dropout(ImportState& state, const Node& node) {
  const Tensor* ratio = state.optional_constant(node, 1);
  const double rate = ratio != nullptr && ratio->is_float && ratio->elements() == 1
                          ? static_cast<double>(ratio->floats[0])
                          : node.number("ratio", 0.5);
  state.add_layer(node, "dropout", {&state.data(node, 0)}, {{"rate", tidy(rate)}});
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
                    {"Tanh", import_activation<kTanhLayer>},
                    {"HardSwish", import_activation<kHardSwishLayer>},
                    {"Sigmoid", import_sigmoid},
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
