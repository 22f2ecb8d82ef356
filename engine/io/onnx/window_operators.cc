// Convolutions, pools, and the padding before them.
#include <algorithm>

#include "engine/io/onnx/constant_folding.h"
#include "engine/io/onnx/operators.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

// Rows, columns and steps beyond this are no image's, and would not fit into sums and products.
constexpr std::int64_t kMostPixels = std::int64_t{1} << 24;

bool are_pads(const Ints& pads, std::size_t count) {
  return pads.size() == count && std::all_of(pads.begin(), pads.end(), [](std::int64_t p) {
           return p >= 0 && p <= kMostPixels;
         });
}

struct Window {
  Ints kernel, stride, dilation;
  Ints padding;  // top, left, bottom, right
  bool ceil_mode = false;
};

void require_rank_4(const Value& value, const std::string& what) {
  if (value.info.dims.rank() != 4)
    throw Unsupported("only " + what + " of images are supported, not of " +
                      value.info.dims.to_string());
}

// What SAME asks for: outputs = ceil(inputs / stride); the odd zero at the end, or at the start.
void pad_same(const Value& value, bool odd_at_end, Window& w) {
  for (const std::size_t axis : {0U, 1U}) {
    const std::int64_t size = value.info.dims[axis + 2];
    const std::int64_t outputs = (size + w.stride[axis] - 1) / w.stride[axis];
    const std::int64_t span = (w.kernel[axis] - 1) * w.dilation[axis] + 1;
    const std::int64_t all =
        std::max<std::int64_t>(0, (outputs - 1) * w.stride[axis] + span - size);
    w.padding[axis] = odd_at_end ? all / 2 : all - all / 2;
    w.padding[axis + 2] = all - w.padding[axis];
  }
}

Ints two(const Node& node, const std::string& name) {
  Ints values = node.integers(name, {1, 1});
  if (values.size() != 2 || values[0] < 1 || values[1] < 1)
    throw Unsupported("attribute \"" + name + "\" is not two positive numbers");
  if (std::max(values[0], values[1]) > kMostPixels)
    throw Unsupported("attribute \"" + name + "\" is larger than images can be");
  return values;
}

Window window_of(const Node& node, const Value& value, Ints kernel) {
  Window w;
  w.kernel = std::move(kernel);
  w.stride = two(node, "strides");
  w.dilation = two(node, "dilations");
  w.padding = node.integers("pads", {0, 0, 0, 0});
  w.ceil_mode = node.integer("ceil_mode", 0) != 0;
  if (!are_pads(w.padding, 4))
    throw Unsupported("attribute \"pads\" is not four numbers of zero or more that fit an image");
  const std::string automatic = node.word("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER")
    pad_same(value, automatic == "SAME_UPPER", w);
  else if (automatic == "VALID")
    w.padding = {0, 0, 0, 0};
  else if (automatic != "NOTSET")
    throw Unsupported("auto_pad " + automatic);
  return w;
}

Property pair_property(const Ints& two_numbers) {
  if (two_numbers[0] == two_numbers[1]) return two_numbers[0];
  return two_numbers;
}

Property padding_property(const Ints& p) {
  if (p[0] != p[2] || p[1] != p[3]) return p;
  return pair_property({p[0], p[1]});
}

void import_conv(ImportState& state, const Node& node) {
  const Value& x = state.padded_data(node, 0);
  require_rank_4(x, "convolutions");
  const Tensor& weight = state.constant(node, 1);
  if (weight.dims.size() != 4) throw Unsupported("its weight is not of rank 4");
  Window w = window_of(node, x, {weight.dims[2], weight.dims[3]});
  for (std::size_t i = 0; i < 4; ++i) w.padding[i] += x.padding[i];
  Properties properties = {
      {"out_channels", weight.dims[0]},        {"kernel", pair_property(w.kernel)},
      {"stride", pair_property(w.stride)},     {"padding", padding_property(w.padding)},
      {"dilation", pair_property(w.dilation)}, {"groups", node.integer("group", 1)}};
  std::map<std::string, NamedTensor> weights = {{"weight", weight_of(weight)}};
  const Tensor* bias = state.optional_constant(node, 2);
  properties["bias"] = bias != nullptr;
  if (bias != nullptr) weights["bias"] = weight_of(*bias);
  Value unpadded = x;
  unpadded.padding = {};
  unpadded.info.dims =
      Dims{x.info.dims[0], x.info.dims[1], x.info.dims[2] - x.padding[0] - x.padding[2],
           x.info.dims[3] - x.padding[1] - x.padding[3]};
  state.add_layer(node, "conv2d", {&unpadded}, std::move(properties), std::move(weights));
}

Properties pool_properties(const Window& w) {
  if (w.dilation != Ints{1, 1}) throw Unsupported("pools with gaps are not supported");
  Properties properties = {{"kernel", pair_property(w.kernel)},
                           {"stride", pair_property(w.stride)},
                           {"padding", padding_property(w.padding)}};
  if (w.ceil_mode) properties["ceil_mode"] = true;
  return properties;
}

void import_max_pool(ImportState& state, const Node& node) {
  const Value& x = state.data(node, 0);
  require_rank_4(x, "pools");
  if (node.outputs.size() > 1 && !node.outputs[1].empty())
    throw Unsupported("the indices of a pool are not supported");
  state.add_layer(node, "max_pool", {&x},
                  pool_properties(window_of(node, x, two(node, "kernel_shape"))));
}

bool covers(const Window& w, const Value& x) {
  return w.kernel[0] == x.info.dims[2] && w.kernel[1] == x.info.dims[3] &&
         w.padding == Ints{0, 0, 0, 0};
}

void import_average_pool(ImportState& state, const Node& node) {
  const Value& x = state.data(node, 0);
  require_rank_4(x, "pools");
  const Window w = window_of(node, x, two(node, "kernel_shape"));
  if (covers(w, x)) {
    state.add_layer(node, "global_average_pool", {&x}, {{"keep_dims", true}});
    return;
  }
  Properties properties = pool_properties(w);
  properties["count_include_pad"] = node.integer("count_include_pad", 0) != 0;
  state.add_layer(node, "average_pool", {&x}, std::move(properties));
}

void import_global_average_pool(ImportState& state, const Node& node) {
  const Value& x = state.data(node, 0);
  require_rank_4(x, "pools");
  state.add_layer(node, "global_average_pool", {&x}, {{"keep_dims", true}});
}

// No layer yet: the convolution behind it takes the zeros in.
void import_pad(ImportState& state, const Node& node) {
  Value x = state.padded_data(node, 0);
  if (node.word("mode", "constant") != "constant")
    throw Unsupported("padding by " + node.word("mode", "") + " is not supported");
  const Tensor* value = state.optional_constant(node, 2);
  if (value != nullptr && value->elements() == 1 &&
      (value->is_float ? value->floats[0] != 0 : value->ints[0] != 0))
    throw Unsupported("padding with anything but zero is not supported");
  const Ints pads = node.has("pads") ? node.integers("pads") : state.constant(node, 1).ints;
  const std::size_t rank = x.info.dims.rank();
  if (pads.size() != 2 * rank || state.has(node, 3))
    throw Unsupported("its pads do not fit its input");
  if (std::all_of(pads.begin(), pads.end(), [](std::int64_t p) { return p == 0; }))
    return state.alias(node, x);
  require_rank_4(x, "paddings");
  if (pads[0] != 0 || pads[1] != 0 || pads[4] != 0 || pads[5] != 0 || !are_pads(pads, 8))
    throw Unsupported("only rows and columns of zeros can be added");
  const std::array<std::int64_t, 4> more = {pads[2], pads[3], pads[6], pads[7]};
  for (std::size_t i = 0; i < 4; ++i) x.padding[i] += more[i];
  x.info.dims = Dims{x.info.dims[0], x.info.dims[1], x.info.dims[2] + more[0] + more[2],
                     x.info.dims[3] + more[1] + more[3]};
  state.alias(node, x);
}

}  // namespace

void add_window_operators(Operators& operators) {
  operators.insert({{"Conv", import_conv},
                    {"MaxPool", import_max_pool},
                    {"AveragePool", import_average_pool},
                    {"GlobalAveragePool", import_global_average_pool},
                    {"Pad", import_pad}});
}

}  // namespace moil::onnx
