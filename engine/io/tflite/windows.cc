// Convolutions, pools, padding, and images of another size. The channels of the file are last.
#include <numeric>

#include "engine/io/tflite/operators.h"

namespace moil::tflite {
namespace {

std::string automatic_padding(int padding) {
  if (padding != 0 && padding != 1) throw Untranslatable("its padding is of an unknown kind");
  return padding == 0 ? "SAME_UPPER" : "VALID";
}

void require_image(const Translator& t) {
  if (t.input_dims(0).size() != 4) throw Untranslatable("its input is no image");
}

std::vector<std::string> with_bias(const Translator& t, std::vector<std::string> inputs) {
  if (t.has(2)) inputs.push_back(t.input(2));
  return inputs;
}

template <class Options>
void convolve(Translator& t, const Options& options, const Ints& weights_order,
              std::int64_t groups) {
  const std::string weights = t.add("Transpose", {t.input(1)}, {{"perm", weights_order}});
  const std::string y = t.add("Conv", with_bias(t, {t.to_channels(t.input(0)), weights}),
                              {{"strides", Ints{options.stride_h(), options.stride_w()}},
                               {"dilations", Ints{options.dilation_h(), options.dilation_w()}},
                               {"auto_pad", automatic_padding(options.padding())},
                               {"group", groups}});
  t.end_in_last(y, options.activation());
}

void translate_convolution(Translator& t) {
  require_image(t);
  const Ints weights = t.input_dims(1), x = t.input_dims(0);
  if (weights.size() != 4 || weights[3] < 1 || x[3] % weights[3] != 0)
    throw Untranslatable("its weights do not fit its input");
  convolve(t, t.options<file::ConvolutionOptions>(), {0, 3, 1, 2}, x[3] / weights[3]);
}

void translate_depthwise(Translator& t) {
  require_image(t);
  convolve(t, t.options<file::DepthwiseOptions>(), {3, 0, 1, 2}, t.input_dims(0)[3]);
}

template <bool is_mean>
void translate_pool(Translator& t) {
  require_image(t);
  const auto& options = t.options<file::PoolOptions>();
  const std::string y = t.add(is_mean ? "AveragePool" : "MaxPool", {t.to_channels(t.input(0))},
                              {{"kernel_shape", Ints{options.height(), options.width()}},
                               {"strides", Ints{options.stride_h(), options.stride_w()}},
                               {"auto_pad", automatic_padding(options.padding())}});
  t.end_in_last(y, options.activation());
}

// [[before, behind], ...] of each axis, as ONNX has it.
std::string paddings_of(Translator& t, const Ints& order) {
  const Ints pairs = t.input_ints(1);
  if (pairs.size() != 2 * order.size()) throw Untranslatable("its padding does not fit its input");
  Ints pads;
  for (const std::size_t side : {0U, 1U})
    for (const std::int64_t axis : order)
      pads.push_back(pairs[2 * static_cast<std::size_t>(axis) + side]);
  return t.ints(pads);
}

// Of an image as of one with its channels first, so that an input that is padded is one, too.
void pad(Translator& t, const std::string& mode) {
  const std::size_t rank = t.input_dims(0).size();
  const bool is_image = rank == 4;
  Ints order = {0, 3, 1, 2};
  if (!is_image) order.resize(rank), std::iota(order.begin(), order.end(), 0);
  const std::string x = is_image ? t.to_channels(t.input(0)) : t.input(0);
  std::vector<std::string> inputs = {x, paddings_of(t, order)};
  if (t.has(2)) inputs.push_back(t.input(2));
  const std::map<std::string, onnx::Attribute> attributes = {{"mode", mode}};
  if (is_image)
    t.end_in_last(t.add("Pad", inputs, attributes));
  else
    t.end("Pad", inputs, attributes);
}

void translate_padding(Translator& t) { pad(t, "constant"); }

void translate_mirror(Translator& t) {
  if (t.options<file::MirrorPadOptions>().mode() != 0)
    throw Untranslatable("it mirrors the edge itself");
  pad(t, "reflect");
}

std::string coordinates(bool aligns_corners, bool half_pixel_centers) {
  if (aligns_corners) return "align_corners";
  return half_pixel_centers ? "half_pixel" : "asymmetric";
}

template <class Options>
void resize(Translator& t, const std::string& mode, const Options& options) {
  require_image(t);
  const Ints size = t.input_ints(1), x = t.input_dims(0);
  if (size.size() != 2) throw Untranslatable("its size is not two numbers");
  std::map<std::string, onnx::Attribute> attributes = {
      {"mode", mode},
      {"coordinate_transformation_mode",
       coordinates(options.aligns_corners(), options.half_pixel_centers())}};
  if (mode == "nearest") {
    const bool rounds = options.aligns_corners() || options.half_pixel_centers();
    attributes["nearest_mode"] = std::string(rounds ? "round_prefer_ceil" : "floor");
  }
  const std::string y =
      t.add("Resize", {t.to_channels(t.input(0)), "", "", t.ints({x[0], x[3], size[0], size[1]})},
            std::move(attributes));
  t.end_in_last(y);
}

// The format's factor is of each channel, ONNX's of all.
void translate_response_norm(Translator& t) {
  require_image(t);
  const auto& options = t.options<file::ResponseNormOptions>();
  const std::int64_t size = 2 * std::int64_t{options.radius()} + 1;
  t.end_in_last(t.add("LRN", {t.to_channels(t.input(0))},
                      {{"size", size},
                       {"alpha", double{options.alpha()} * static_cast<double>(size)},
                       {"beta", double{options.beta()}},
                       {"bias", double{options.bias()}}}));
}

void translate_bilinear(Translator& t) {
  resize(t, "linear", t.options<file::ResizeBilinearOptions>());
}

void translate_nearest(Translator& t) {
  resize(t, "nearest", t.options<file::ResizeNearestOptions>());
}

}  // namespace

void add_windows(OperatorKinds& kinds) {
  kinds.insert({{1, {"AVERAGE_POOL_2D", translate_pool<true>}},
                {3, {"CONV_2D", translate_convolution}},
                {4, {"DEPTHWISE_CONV_2D", translate_depthwise}},
                {13, {"LOCAL_RESPONSE_NORMALIZATION", translate_response_norm}},
                {17, {"MAX_POOL_2D", translate_pool<false>}},
                {23, {"RESIZE_BILINEAR", translate_bilinear}},
                {34, {"PAD", translate_padding}},
                {60, {"PADV2", translate_padding}},
                {97, {"RESIZE_NEAREST_NEIGHBOR", translate_nearest}},
                {100, {"MIRROR_PAD", translate_mirror}}});
}

}  // namespace moil::tflite
