// Quantised networks, as the floats that their numbers stand for: what rounds an activation and
// takes it back is passed over, but for the limit at zero that it may have been given in a ReLU's
// place.
#include <algorithm>
#include <set>

#include "engine/io/onnx/element_type.h"
#include "engine/io/onnx/operators/arithmetic.h"
#include "engine/io/onnx/operators/operators.h"

namespace moil::onnx {
namespace {

// Whether numbers below zero have no place: the zero point is the least number of its type.
bool cuts_below_zero(const ImportState& state, const Node& node) {
  const Tensor* zero = state.optional_constant(node, 2);
  if (zero == nullptr) {
    const std::int64_t type = node.integer("output_dtype", 0);
    return type == 0 || type == static_cast<std::int64_t>(ElementType::kUint8) ||
           type == static_cast<std::int64_t>(ElementType::kUint16);
  }
  const auto is_least = [&](std::int64_t z) {
    return zero->is_signed ? z == -128 || z == -32768 : z == 0;
  };
  return !zero->is_float && std::all_of(zero->ints.begin(), zero->ints.end(), is_least);
}

// Whether a value is never below zero, as its layer and those before it say.
bool is_never_negative(ImportState& state, Value value) {
  static const std::set<std::string> kNever = {"relu",         "relu6",   "sigmoid",
                                               "hard_sigmoid", "softmax", "softplus"};
  static const std::set<std::string> kKeep = {"max_pool", "average_pool", "global_average_pool",
                                              "reshape",  "flatten",      "permute",
                                              "slice",    "dropout",      "resize"};
  for (;;) {
    const LayerDescription* layer = state.layer_of(value);
    if (layer == nullptr) return false;
    if (kNever.contains(layer->type)) return true;
    const Value* source = state.value_of(layer->inputs[0]);
    if (!kKeep.contains(layer->type) || source == nullptr) return false;
    value = *source;
  }
}

void import_quantize(ImportState& state, const Node& node) {
  Value x = state.pixels(node, 0);
  (void)state.constant(node, 1);
  state.count_quantization();
  if (cuts_below_zero(state, node) && !state.is_input(x) && !is_never_negative(state, x))
    x = state.add_layer(node, "relu", {&x});
  state.alias(node, x);
}

// Numbers of the input are not floats yet.
void import_dequantize(ImportState& state, const Node& node) {
  const Value x = state.pixels(node, 0);
  if (!state.is_input(x)) return state.alias(node, x);
  const Tensor& scale = state.constant(node, 1);
  const Tensor* zero = state.optional_constant(node, 2);
  if (!scale.is_float || scale.elements() != 1 ||
      (zero != nullptr && (zero->is_float || zero->elements() != 1)))
    throw Unsupported("only one scale and one zero point are supported");
  const double factor = shortest(scale.floats[0]);
  const double least = zero == nullptr ? 0 : static_cast<double>(zero->ints[0]);
  state.add_layer(node, "scale", {&x}, {{"factor", factor}, {"offset", -least * factor}});
}

}  // namespace

void add_quantization_operators(Operators& operators) {
  operators.insert({{"QuantizeLinear", import_quantize}, {"DequantizeLinear", import_dequantize}});
}

}  // namespace moil::onnx
