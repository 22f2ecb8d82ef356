// How layers of images, activations and sums are written.
#include "engine/io/onnx/export/layer_writer.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

// Layers that are one ONNX node with the same inputs and no attributes.
template <const char* kOp>
void add_plain(LayerWriter& w) {
  w.emit(kOp, w.inputs());
}

constexpr char kExp[] = "Exp", kHardSwish[] = "HardSwish", kIdentity[] = "Identity", kLog[] = "Log",
               kMax[] = "Max", kMin[] = "Min", kMul[] = "Mul", kReciprocal[] = "Reciprocal",
               kRelu[] = "Relu", kSigmoid[] = "Sigmoid", kSoftplus[] = "Softplus", kTanh[] = "Tanh";

void add_conv(LayerWriter& w) {
  std::vector<std::string> from = w.inputs();
  from.push_back(w.add_weight("weight"));
  if (w.flag("bias", true)) from.push_back(w.add_weight("bias"));
  w.emit("Conv", from, {},
         {{"kernel_shape", w.two("kernel", 1)},
          {"strides", w.two("stride", 1)},
          {"dilations", w.two("dilation", 1)},
          {"pads", w.pads()},
          {"group", w.reader().integer("groups", 1, 1)}});
}

void add_batch_norm(LayerWriter& w) {
  // ONNX has channels in second place; rows have theirs last.
  const std::map<std::string, Attribute> swapped = {{"perm", Ints{0, 2, 1}}};
  const bool is_rows = w.input_info().dims.rank() == 3;
  std::vector<std::string> from = w.inputs();
  if (is_rows) from = {w.emit_part("Transpose", from, "channels", swapped)};
  for (const char* name : {"gamma", "beta", "running_mean", "running_var"})
    from.push_back(w.add_weight(name));
  const std::string to = is_rows ? w.name() + ".normalised" : std::string();
  const std::string y = w.emit("BatchNormalization", from, to,
                               {{"epsilon", w.reader().number("epsilon", 1e-5)},
                                {"momentum", 1 - w.reader().number("momentum", 0.1)}});
  if (is_rows) w.emit("Transpose", {y}, {}, swapped);
}

std::map<std::string, Attribute> window(const LayerWriter& w) {
  const Ints kernel = w.two("kernel", 1);
  const Ints stride = w.has("stride") ? w.two("stride", 1) : kernel;
  return {{"kernel_shape", kernel},
          {"strides", stride},
          {"pads", w.pads()},
          {"ceil_mode", std::int64_t{w.flag("ceil_mode", false)}}};
}

void add_max_pool(LayerWriter& w) {
  auto attributes = window(w);
  attributes["dilations"] = w.two("dilation", 1);
  w.emit("MaxPool", w.inputs(), {}, std::move(attributes));
}

void add_average_pool(LayerWriter& w) {
  auto attributes = window(w);
  attributes["count_include_pad"] = std::int64_t{w.flag("count_include_pad", true)};
  w.emit("AveragePool", w.inputs(), {}, std::move(attributes));
}

void add_global_average_pool(LayerWriter& w) {
  if (w.flag("keep_dims", false)) {
    w.emit("GlobalAveragePool", w.inputs());
    return;
  }
  w.emit("ReduceMean", w.inputs(), {}, {{"axes", Ints{2, 3}}, {"keepdims", std::int64_t{0}}});
}

// A sum has two inputs in ONNX.
void add_sum(LayerWriter& w) {
  const std::vector<std::string> from = w.inputs();
  std::string sum = from[0];
  for (std::size_t i = 1; i < from.size(); ++i) {
    const bool last = i + 1 == from.size();
    const std::string to = last ? std::string() : w.name() + ".sum" + std::to_string(i);
    sum = w.emit("Add", {sum, from[i]}, to);
  }
}

void add_concat(LayerWriter& w) {
  w.emit("Concat", w.inputs(), {}, {{"axis", w.reader().integer("axis", 1)}});
}

void add_flatten(LayerWriter& w) { w.emit("Flatten", w.inputs(), {}, {{"axis", std::int64_t{1}}}); }

void add_dropout(LayerWriter& w) {
  std::vector<std::string> from = w.inputs();
  from.push_back(w.add_number("ratio", static_cast<float>(w.reader().number("rate", 0.5))));
  w.emit("Dropout", from);
}

void add_hard_sigmoid(LayerWriter& w) {
  w.emit("HardSigmoid", w.inputs(), {}, {{"alpha", 1.0 / 6}, {"beta", 0.5}});
}

void add_leaky_relu(LayerWriter& w) {
  w.emit("LeakyRelu", w.inputs(), {}, {{"alpha", w.reader().number("slope", 0.01)}});
}

void add_relu6(LayerWriter& w) {
  std::vector<std::string> from = w.inputs();
  from.push_back(w.add_number("min", 0));
  from.push_back(w.add_number("max", 6));
  w.emit("Clip", from);
}

void add_silu(LayerWriter& w) {
  const std::string gate = w.name() + ".sigmoid";
  w.emit("Sigmoid", w.inputs(), gate);
  w.emit("Mul", {w.inputs()[0], gate});
}

void add_elu(LayerWriter& w) {
  w.emit("Elu", w.inputs(), {}, {{"alpha", w.reader().number("alpha", 1)}});
}

void add_power(LayerWriter& w) {
  const auto exponent = static_cast<float>(w.reader().number("exponent", 2));
  w.emit("Pow", {w.inputs()[0], w.add_number("exponent", exponent)});
}

void add_mish(LayerWriter& w) {
  const std::string softplus = w.emit_part("Softplus", w.inputs(), "softplus");
  w.emit("Mul", {w.inputs()[0], w.emit_part("Tanh", {softplus}, "tanh")});
}

void add_response_norm(LayerWriter& w) {
  w.emit("LRN", w.inputs(), {},
         {{"size", w.reader().integer("size")},
          {"alpha", w.reader().number("alpha", 1e-4)},
          {"beta", w.reader().number("beta", 0.75)},
          {"bias", w.reader().number("bias", 1)}});
}

void add_resize(LayerWriter& w) {
  const Ints size = w.two("size", 1);
  const ::moil::Dims& x = w.input_info().dims;
  const std::string sizes = w.emit_part(
      "Concat", {w.emit_batch(w.inputs()[0]), w.add_ints("size", {x[1], size[0], size[1]})},
      "sizes", {{"axis", std::int64_t{0}}});
  std::map<std::string, Attribute> attributes = {
      {"mode", w.reader().word("mode", "nearest")},
      {"coordinate_transformation_mode", w.reader().word("coordinates", "asymmetric")},
      {"nearest_mode", w.reader().word("rounding", "floor")}};
  w.emit("Resize", {w.inputs()[0], "", "", sizes}, {}, std::move(attributes));
}

}  // namespace

void add_image_writers(LayerWriters& writers) {
  writers.insert({
      {"add", add_sum},
      {"average_pool", add_average_pool},
      {"batch_norm", add_batch_norm},
      {"concat", add_concat},
      {"conv2d", add_conv},
      {"dropout", add_dropout},
      {"elu", add_elu},
      {"exp", add_plain<kExp>},
      {"flatten", add_flatten},
      {"global_average_pool", add_global_average_pool},
      {"hard_sigmoid", add_hard_sigmoid},
      {"hard_swish", add_plain<kHardSwish>},
      {"identity", add_plain<kIdentity>},
      {"leaky_relu", add_leaky_relu},
      {"local_response_norm", add_response_norm},
      {"log", add_plain<kLog>},
      {"max_pool", add_max_pool},
      {"maximum", add_plain<kMax>},
      {"minimum", add_plain<kMin>},
      {"mish", add_mish},
      {"multiply", add_plain<kMul>},
      {"power", add_power},
      {"reciprocal", add_plain<kReciprocal>},
      {"relu", add_plain<kRelu>},
      {"relu6", add_relu6},
      {"resize", add_resize},
      {"sigmoid", add_plain<kSigmoid>},
      {"silu", add_silu},
      {"softplus", add_plain<kSoftplus>},
      {"tanh", add_plain<kTanh>},
  });
}

}  // namespace moil::onnx
