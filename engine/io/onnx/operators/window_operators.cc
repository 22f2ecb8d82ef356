// Convolutions, pools, and the padding before them.
#include <algorithm>
#include <array>

#include "engine/io/onnx/folds/constant_folding.h"
#include "engine/io/onnx/operators/arithmetic.h"
#include "engine/io/onnx/operators/operators.h"

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

// What the file says of a line's pixels, as of an image's rows and columns.
Ints as_two(const Value& x, std::int64_t number, std::int64_t other) {
  return x.view == View::kOneColumn ? Ints{number, other} : Ints{other, number};
}

Ints two(const Node& node, const Value& x, const std::string& name) {
  Ints values = node.integers(name, x.is_line() ? Ints{1} : Ints{1, 1});
  if (x.is_line()) values = values.size() == 1 ? as_two(x, values[0], 1) : Ints();
  if (values.size() != 2 || values[0] < 1 || values[1] < 1)
    throw Unsupported("attribute \"" + name + "\" is not a positive number for each axis");
  if (std::max(values[0], values[1]) > kMostPixels)
    throw Unsupported("attribute \"" + name + "\" is larger than images can be");
  return values;
}

Ints pads_around(const Node& node, const Value& x) {
  Ints pads = node.integers("pads", Ints(x.is_line() ? 2 : 4, 0));
  if (x.is_line() && pads.size() == 2) {
    const Ints begin = as_two(x, pads[0], 0), end = as_two(x, pads[1], 0);
    pads = {begin[0], begin[1], end[0], end[1]};
  } else if (x.is_line()) {
    pads.clear();
  }
  if (!are_pads(pads, 4))
    throw Unsupported(
        "attribute \"pads\" is not two numbers of zero or more for each axis, that fit an image");
  return pads;
}

Window window_of(const Node& node, const Value& value, Ints kernel) {
  Window w;
  w.kernel = std::move(kernel);
  w.stride = two(node, value, "strides");
  w.dilation = two(node, value, "dilations");
  w.padding = pads_around(node, value);
  w.ceil_mode = node.integer("ceil_mode", 0) != 0;
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

// Zeros at the sides of images, as a layer that there is already.
bool is_side_padding(const LayerDescription& layer) {
  return layer.type == "pad" && !layer.properties.contains("value") &&
         std::get<Ints>(layer.properties.at("begin")).at(0) == 0 &&
         std::get<Ints>(layer.properties.at("end")).at(0) == 0;
}

// With zeros around it that the reader can take in; what another reader, or another name, made a
// layer of is taken in all the same, so that the order of nodes says nothing.
Value side_padded(ImportState& state, Value x) {
  while (x.is_image() && x.batch_axis == 0) {
    const LayerDescription* layer = state.layer_of(x);
    if (layer == nullptr || !is_side_padding(*layer)) break;
    const Value* source = state.value_of(layer->inputs[0]);
    if (source == nullptr || !source->is_image()) break;
    const Ints& begin = std::get<Ints>(layer->properties.at("begin"));
    const Ints& end = std::get<Ints>(layer->properties.at("end"));
    x.padding[0] += begin[1], x.padding[1] += begin[2];
    x.padding[2] += end[1], x.padding[3] += end[2];
    x.layer = source->layer;
  }
  return x;
}

// As of an image's convolution: [O, I, KH, KW].
NamedTensor kernel_of(const Tensor& weight, const Value& x) {
  NamedTensor kernel = weight_of(weight);
  if (x.is_line() && kernel.dims.size() == 3) {
    const Ints size = as_two(x, kernel.dims[2], 1);
    kernel.dims = {kernel.dims[0], kernel.dims[1], size[0], size[1]};
  }
  if (kernel.dims.size() != 4) throw Unsupported("its weight does not fit its input's rank");
  return kernel;
}

void import_conv(ImportState& state, const Node& node) {
  Value x = state.unfinished_data(node, 0);
  if (!x.is_padded()) x = state.spatial(node, 0);
  x = side_padded(state, x);
  NamedTensor weight = kernel_of(state.constant(node, 1), x);
  Window w = window_of(node, x, {weight.dims[2], weight.dims[3]});
  for (std::size_t i = 0; i < 4; ++i) w.padding[i] += x.padding[i];
  if (!are_pads(w.padding, 4)) throw Unsupported("its padding is larger than images can be");
  Properties properties = {
      {"out_channels", weight.dims[0]},        {"kernel", pair_property(w.kernel)},
      {"stride", pair_property(w.stride)},     {"padding", padding_property(w.padding)},
      {"dilation", pair_property(w.dilation)}, {"groups", node.integer("group", 1)}};
  std::map<std::string, NamedTensor> weights = {{"weight", std::move(weight)}};
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
  Properties properties = {{"kernel", pair_property(w.kernel)},
                           {"stride", pair_property(w.stride)},
                           {"padding", padding_property(w.padding)}};
  if (w.ceil_mode) properties["ceil_mode"] = true;
  if (w.dilation != Ints{1, 1}) properties["dilation"] = pair_property(w.dilation);
  return properties;
}

void import_max_pool(ImportState& state, const Node& node) {
  const Value x = state.spatial(node, 0);
  if (node.outputs.size() > 1 && !node.outputs[1].empty())
    throw Unsupported("the indices of a pool are not supported");
  state.add_layer(node, "max_pool", {&x},
                  pool_properties(window_of(node, x, two(node, x, "kernel_shape"))));
}

bool covers(const Window& w, const Value& x) {
  return w.kernel[0] == x.info.dims[2] && w.kernel[1] == x.info.dims[3] &&
         w.padding == Ints{0, 0, 0, 0};
}

void import_average_pool(ImportState& state, const Node& node) {
  const Value x = state.spatial(node, 0);
  const Window w = window_of(node, x, two(node, x, "kernel_shape"));
  if (w.dilation != Ints{1, 1}) throw Unsupported("averages over windows with gaps");
  if (covers(w, x)) {
    state.add_layer(node, "global_average_pool", {&x}, {{"keep_dims", true}});
    return;
  }
  Properties properties = pool_properties(w);
  properties["count_include_pad"] = node.integer("count_include_pad", 0) != 0;
  state.add_layer(node, "average_pool", {&x}, std::move(properties));
}

void import_global_average_pool(ImportState& state, const Node& node) {
  const Value x = state.spatial(node, 0);
  state.add_layer(node, "global_average_pool", {&x}, {{"keep_dims", true}});
}

void import_global_max_pool(ImportState& state, const Node& node) {
  (void)largest_pixels(state, node, state.spatial(node, 0));
}

// What a Pad node asks for, axis by axis of its input in the file.
struct Pads {
  Ints begin, end;
  double value = 0;
};

Pads pads_of(const ImportState& state, const Node& node, std::size_t rank) {
  if (node.word("mode", "constant") != "constant")
    throw Unsupported("padding by " + node.word("mode", "") + " is not supported");
  const Ints pads = node.has("pads") ? node.integers("pads") : state.constant(node, 1).ints;
  Pads result{Ints(rank, 0), Ints(rank, 0), tidy(node.number("value", 0))};
  if (const Tensor* value = state.optional_constant(node, 2); value && value->elements() == 1)
    result.value =
        value->is_float ? shortest(value->floats[0]) : static_cast<double>(value->ints[0]);
  const Tensor* named = state.optional_constant(node, 3);
  const std::size_t count = named == nullptr ? rank : named->ints.size();
  if (pads.size() != 2 * count) throw Unsupported("its pads do not fit its input");
  std::vector<bool> seen(rank, false);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t axis = named == nullptr ? i : axis_of(node, named->ints[i], rank);
    if (seen[axis]) throw Unsupported("it names an axis twice");
    seen[axis] = true;
    result.begin[axis] = pads[i];
    result.end[axis] = pads[i + count];
  }
  return result;
}

// No layer yet: the convolution behind it takes the zeros in. rows: the file's axis of these.
void widen(ImportState& state, const Node& node, Value x, const Pads& pads, std::size_t rows) {
  const std::array<std::int64_t, 4> more = {pads.begin[rows], pads.begin[rows + 1], pads.end[rows],
                                            pads.end[rows + 1]};
  for (std::size_t i = 0; i < 4; ++i) x.padding[i] += more[i];
  const ::moil::Dims& d = x.info.dims;
  x.info.dims = ::moil::Dims{d[0], d[1], d[2] + more[0] + more[2], d[3] + more[1] + more[3]};
  x.form = Form::kPlain;
  x.node = &node;
  state.alias(node, x);
}

void import_pad(ImportState& state, const Node& node) {
  Value x = state.unfinished_data(node, 0);
  const std::size_t rank = file_dims(x).size();
  const Pads pads = pads_of(state, node, rank);
  const auto all = [](const Ints& list, const auto& test) {
    return std::all_of(list.begin(), list.end(), test);
  };
  const auto none = [](std::int64_t p) { return p == 0; };
  if (all(pads.begin, none) && all(pads.end, none)) return state.alias(node, x);
  if (!are_pads(pads.begin, rank) || !are_pads(pads.end, rank))
    throw Unsupported("only padding that adds elements, and as many as fit, is supported");
  if (!x.is_padded()) x = state.pixels(node, 0);
  x = side_padded(state, x);
  const std::size_t rows = x.view == View::kChannelsLast ? 1 : 2, channels = rows == 1 ? 3 : 1;
  const bool sides = rank == 4 && x.is_image() && x.batch_axis == 0 && pads.begin[0] == 0 &&
                     pads.end[0] == 0 && pads.begin[channels] == 0 && pads.end[channels] == 0;
  if (sides && pads.value == 0) return widen(state, node, x, pads, rows);
  x = state.pixels(node, 0);
  Ints begin(x.info.dims.rank() - 1, 0), end = begin;
  for (std::size_t k = 0; k < rank; ++k) {
    if (pads.begin[k] == 0 && pads.end[k] == 0) continue;
    const std::size_t axis = engine_axis(x, k) - 1;
    begin[axis] = pads.begin[k];
    end[axis] = pads.end[k];
  }
  Properties properties = {{"begin", begin}, {"end", end}};
  if (pads.value != 0) properties["value"] = pads.value;
  state.add_layer(node, "pad", {&x}, std::move(properties));
}

}  // namespace

// A window has a side of 255 pixels at most: larger images take several pools.
Value largest_pixels(ImportState& state, const Node& node, Value x) {
  constexpr std::int64_t kMostSide = 255;
  do {
    const Ints kernel = {std::min(x.info.dims[2], kMostSide), std::min(x.info.dims[3], kMostSide)};
    Properties properties = {{"kernel", pair_property(kernel)},
                             {"stride", pair_property(kernel)},
                             {"padding", std::int64_t{0}}};
    if (x.info.dims[2] % kernel[0] != 0 || x.info.dims[3] % kernel[1] != 0)
      properties["ceil_mode"] = true;
    x = state.add_layer(node, "max_pool", {&x}, std::move(properties));
  } while (x.info.dims[2] > 1 || x.info.dims[3] > 1);
  return x;
}

void add_window_operators(Operators& operators) {
  operators.insert({{"Conv", import_conv},
                    {"MaxPool", import_max_pool},
                    {"AveragePool", import_average_pool},
                    {"GlobalAveragePool", import_global_average_pool},
                    {"GlobalMaxPool", import_global_max_pool},
                    {"Pad", import_pad}});
}

}  // namespace moil::onnx
