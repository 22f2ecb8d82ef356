// Sums and products with constants, of one number, of one a channel and of one a place in a row.
#include <algorithm>

#include "engine/io/onnx/operators/arithmetic.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

// The file's dims of one sample.
Ints sample_dims(const Value& x) {
  Ints dims = file_dims(x);
  if (x.batch_axis >= 0) dims.erase(dims.begin() + x.batch_axis);
  return dims;
}

bool is_row(const Ints& sample, const Value& x) {
  const Ints dims = sample_dims(x);
  if (sample.empty() || sample.size() > dims.size()) return false;
  return std::equal(sample.rbegin(), sample.rend(), dims.rbegin());
}

// The same, or 1 instead.
bool meets_row(const Ints& sample, const Value& x) {
  const Ints dims = sample_dims(x);
  if (sample.empty() || sample.size() > dims.size()) return false;
  return std::equal(sample.rbegin(), sample.rend(), dims.rbegin(),
                    [](std::int64_t own, std::int64_t other) { return own == other || own == 1; });
}

// One number for each channel of an image, as the file's axes have them.
bool is_one_a_channel(const Ints& dims, const Value& x) {
  if (x.batch_axis != 0 || x.info.dims.rank() != 4) return false;
  const std::int64_t channels = x.info.dims[1];
  if (x.view == View::kChannelsLast) return dims == Ints{1, 1, 1, channels};
  return dims == (x.is_line() ? Ints{1, channels, 1} : Ints{1, channels, 1, 1});
}

// One number for each of a row's last `size` places, whatever axes of one are before them.
bool is_one_a_feature(const Constant& c, std::int64_t size) {
  if (c.kind == Constant::Kind::kNumber) return size == 1;
  return c.kind == Constant::Kind::kRow && c.dims.back() == size &&
         static_cast<std::int64_t>(c.values.size()) == size;
}

}  // namespace

Constant constant_of(ImportState& state, const Node& node, std::size_t input, const Value& x) {
  const Tensor& tensor = state.constant(node, input);
  if (!tensor.is_float) throw Unsupported("arithmetic with whole numbers");
  state.spend(node, tensor.elements());
  const Value& value = *state.find(node.inputs[input]);
  Constant c{Constant::Kind::kNumber,
             tensor.floats,
             {},
             value.source,
             !value.root.empty() && !(node.op == "Add" && is_mask(tensor.floats))};
  const std::size_t rank = file_dims(x).size();
  if (tensor.elements() == 1 && tensor.dims.size() <= rank) return c;
  Ints dims = tensor.dims;
  if (dims.size() < rank) dims.insert(dims.begin(), rank - dims.size(), 1);
  const bool channels = is_one_a_channel(dims, x);
  c.kind = channels ? Constant::Kind::kChannels : Constant::Kind::kRow;
  if (channels) return c;
  const auto batch = static_cast<std::size_t>(std::max(x.batch_axis, 0));
  bool fits = dims.size() == rank && (x.batch_axis < 0 || dims[batch] == 1);
  if (fits && x.batch_axis >= 0) dims.erase(dims.begin() + x.batch_axis);
  while (fits && dims.size() > 1 && dims[0] == 1 && !is_row(dims, x)) dims.erase(dims.begin());
  if (!fits || !meets_row(dims, x))
    throw Unsupported(
        "only constants of one number, one a channel, or of the last dimensions of a sample, or 1 "
        "instead of some, are supported");
  c.dims = std::move(dims);
  return c;
}

namespace {

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
  const Value x = state.pixels(node, input);
  const std::int64_t channels = x.is_image() ? x.info.dims[1] : x.info.dims.back();
  const bool row = !x.is_image() && is_one_a_feature(bias, channels);
  if (bias.kind == Constant::Kind::kRow && !row) return false;
  if (bias.kind == Constant::Kind::kChannels && !x.is_image()) return false;
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
  Properties properties = {{"dims", c.dims}};
  if (!c.trained) properties["trained"] = false;
  state.add_layer(node, type, {&rows}, std::move(properties), {{"weight", c.weight()}},
                  parameter_of(c.name));
}

// Normalised rows and their shift are one layer.
bool shift_normalised(ImportState& state, const Node& node, std::size_t input, const Constant& c) {
  Value x = state.unfinished_data(node, input);
  const std::int64_t size = x.info.dims.back();
  if (x.form != Form::kNormalised || !is_one_a_feature(c, size)) return false;
  std::vector<float> gamma(static_cast<std::size_t>(size), 1.0F);
  if (x.gamma) gamma = x.gamma->floats;
  x.form = Form::kPlain;
  state.add_layer(node, "layer_norm", {&x}, {{"epsilon", x.epsilon}},
                  {{"gamma", {{size}, std::move(gamma)}}, {"beta", {{size}, c.values}}},
                  owner_of(x.gamma_source));
  return true;
}

bool scale_normalised(ImportState& state, const Node& node, std::size_t input, const Constant& c) {
  Value x = state.unfinished_data(node, input);
  if (x.form != Form::kNormalised || x.gamma || !is_one_a_feature(c, x.info.dims.back()))
    return false;
  x.gamma = std::make_shared<Tensor>(Tensor::of(c.dims, c.values));
  x.gamma_source = c.name;
  x.gamma_node = &node;
  state.set(node.outputs[0], std::move(x));
  return true;
}

}  // namespace

void add_constant(ImportState& state, const Node& node, std::size_t input, const Constant& c) {
  if (shift_normalised(state, node, input, c) || add_bias(state, node, input, c)) return;
  const Value x = state.pixels(node, input);
  if (c.kind == Constant::Kind::kRow) return add_row(state, node, "add_parameter", x, c);
  if (c.kind == Constant::Kind::kChannels) return add_affine(state, node, x, {1.0F}, c.values);
  state.add_layer(node, "scale", {&x}, {{"offset", shortest(c.values[0])}});
  if (c.is(3)) mark(state, node, Form::kPlusThree, x.layer);
}

// A sixth of what an earlier node made may be the end of an activation.
void multiply_constant(ImportState& state, const Node& node, std::size_t input, const Constant& c) {
  if (scale_normalised(state, node, input, c) || scale_frames(state, node, input, c)) return;
  const Value x = state.pixels(node, input);
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

}  // namespace moil::onnx
