// Convolutions, pools, padding, and images of another size. Channels are last in the file.
#include <algorithm>
#include <array>
#include <limits>

#include "engine/io/tflite/export/graph_writer.h"
#include "engine/io/tflite/export/operator_codes.h"

namespace moil::tflite {
namespace {

constexpr std::int8_t kSame = 0, kValid = 1;

// Of rows and of columns; a line is an image of one row.
struct Window {
  std::int64_t kernel = 1, stride = 1, dilation = 1, before = 0, behind = 0, in = 1, out = 1;

  [[nodiscard]] std::int64_t span() const { return (kernel - 1) * dilation + 1; }
  // As many results as with the padding, which ends where the last of them does.
  void fit(bool ceils) {
    const std::int64_t room = in + before + behind - span();
    out = room / stride + 1;
    if (ceils && room % stride != 0 && out * stride < in + before) ++out;
    behind = std::max<std::int64_t>((out - 1) * stride + span() - in - before, 0);
  }
  [[nodiscard]] bool is_valid() const { return before == 0 && behind == 0; }
  [[nodiscard]] bool is_same() const {
    const std::int64_t all = std::max<std::int64_t>((out - 1) * stride + span() - in, 0);
    return out == (in + stride - 1) / stride && before == all / 2 && behind == all - all / 2;
  }
};
using Windows = std::array<Window, 2>;

Windows windows_of(GraphWriter& w, const Value& x, const Ints& kernel) {
  const std::size_t axes = x.rank() - 2;
  if (axes != 1 && axes != 2) throw Unwritable("its input is neither an image nor a line");
  if (w.node().word("auto_pad", "NOTSET") != "NOTSET")
    throw Unwritable("its padding is not in numbers");
  const Ints ones(axes, 1), zeros(2 * axes, 0);
  const Ints strides = w.node().integers("strides", ones),
             dilations = w.node().integers("dilations", ones),
             pads = w.node().integers("pads", zeros);
  Windows windows;
  for (std::size_t k = 0; k < axes; ++k) {
    Window& one = windows[2 - axes + k];
    one = {kernel[k], strides[k], dilations[k], pads[k], pads[axes + k], x.dims[2 + k]};
    one.fit(w.node().integer("ceil_mode", 0) != 0);
  }
  if (axes == 1) windows[0].fit(false);
  return windows;
}

// The tensor [1, rows, columns, channels].
int image_of(GraphWriter& w, const Value& x) {
  const int lying = w.in_order(x, image_order(x.rank()));
  if (x.rank() == 4) return lying;
  const Ints& dims = w.tensor_dims(lying);
  const Value line{dims, plain_order(3), lying};
  return w.reshaped(line, {dims[0], 1, dims[1], dims[2]}).tensor;
}

Value value_of(GraphWriter& w, const Value& x, int image, std::int64_t channels) {
  const Ints dims = w.tensor_dims(image);
  if (x.rank() == 4) return {{dims[0], channels, dims[1], dims[2]}, image_order(4), image};
  const Value as_image{dims, plain_order(4), image};
  const int line = w.reshaped(as_image, {dims[0], dims[2], dims[3]}).tensor;
  return {{dims[0], channels, dims[2]}, image_order(3), line};
}

int padded(GraphWriter& w, int image, const Windows& at, float value) {
  if (at[0].is_valid() && at[1].is_valid()) return image;
  Ints dims = w.tensor_dims(image);
  dims[1] += at[0].before + at[0].behind;
  dims[2] += at[1].before + at[1].behind;
  std::vector<int> inputs = {
      image,
      w.ints({0, 0, at[0].before, at[0].behind, at[1].before, at[1].behind, 0, 0}, Ints{4, 2})};
  if (value != 0) inputs.push_back(w.plain(w.number(value)));
  return w.add(value == 0 ? ops::kPad : ops::kPadValue, inputs, dims, w.no_options());
}

bool is_same(const Windows& at) { return at[0].is_same() && at[1].is_same(); }

// Padded by hand if the operator's own way does not say it.
std::int8_t pad(GraphWriter& w, int& image, const Windows& at, float value) {
  if (is_same(at)) return kSame;
  image = padded(w, image, at, value);
  return kValid;
}

Options convolution_options(GraphWriter& w, const Windows& at, std::int8_t padding,
                            std::int64_t multiplier, int activation) {
  const auto number = [](std::int64_t value) { return static_cast<int>(value); };
  const auto fused = static_cast<std::int8_t>(activation);
  if (multiplier > 0)
    return GraphWriter::options(file::CreateDepthwiseOptions(
        w.builder(), padding, number(at[1].stride), number(at[0].stride), number(multiplier), fused,
        number(at[1].dilation), number(at[0].dilation)));
  return GraphWriter::options(file::CreateConvolutionOptions(
      w.builder(), padding, number(at[1].stride), number(at[0].stride), fused,
      number(at[1].dilation), number(at[0].dilation)));
}

// Weights [outputs, inputs of a group, (rows,) columns].
void write_convolution(GraphWriter& w) {
  const Value x = w.input(0);
  Value weights = w.input(1);
  onnx::Tensor kernel = w.input_constant(1);
  if (x.rank() == 3) kernel.dims.insert(kernel.dims.begin() + 2, 1);
  if (kernel.dims.size() != 4) throw Unwritable("its input is neither an image nor a line");
  const std::int64_t outputs = kernel.dims[0], channels = x.dims[1],
                     groups = w.node().integer("group", 1);
  const Ints extents = {weights.dims.begin() + 2, weights.dims.end()};
  const Windows at = windows_of(w, x, extents);
  if (x.rank() == 3) weights = w.of("kernel", std::move(kernel));
  const bool is_depthwise = groups == channels && groups > 1;
  const std::vector<int> parts = {
      w.in_order(weights, is_depthwise ? Ints{1, 2, 3, 0} : Ints{0, 2, 3, 1}),
      w.has(2) ? w.plain(w.input(2))
               : w.plain(w.of("bias", onnx::Tensor::of(
                                          {outputs},
                                          std::vector<float>(static_cast<std::size_t>(outputs)))))};
  int image = image_of(w, x);
  const std::int8_t padding = pad(w, image, at, 0);
  const int activation = w.take_activation();
  const bool is_dilated = at[0].dilation > 1 || at[1].dilation > 1;
  const OperatorCode code =
      is_depthwise ? (is_dilated ? ops::kDilatedDepthwise : ops::kDepthwise) : ops::kConvolution;
  const Options options =
      convolution_options(w, at, padding, is_depthwise ? outputs / channels : 0, activation);
  const int y =
      w.add(code, {image, parts[0], parts[1]}, {1, at[0].out, at[1].out, outputs}, options);
  w.end(value_of(w, x, y, outputs));
}

Options pool_options(GraphWriter& w, const Windows& at, std::int8_t padding) {
  return GraphWriter::options(file::CreatePoolOptions(
      w.builder(), padding, static_cast<int>(at[1].stride), static_cast<int>(at[0].stride),
      static_cast<int>(at[1].kernel), static_cast<int>(at[0].kernel)));
}

int pooled(GraphWriter& w, const OperatorCode& code, int image, const Windows& at,
           std::int8_t padding) {
  const std::int64_t channels = w.tensor_dims(image)[3];
  return w.add(code, {image}, {1, at[0].out, at[1].out, channels}, pool_options(w, at, padding));
}

void write_max_pool(GraphWriter& w) {
  const Value x = w.input(0);
  const Windows at = windows_of(w, x, w.node().integers("kernel_shape"));
  if (at[0].dilation > 1 || at[1].dilation > 1)
    throw Unwritable("the format's pools have no dilation");
  int image = image_of(w, x);
  const std::int8_t padding = pad(w, image, at, std::numeric_limits<float>::lowest());
  w.end(value_of(w, x, pooled(w, ops::kMaxPool, image, at, padding), x.dims[1]));
}

// By what a mean of all the window, zeros around the image included, must be multiplied: the mean
// is of those that are there, or that the padding has of itself.
onnx::Tensor shares_of(const Windows& at, const Windows& given, bool counts_padding) {
  std::vector<float> factors[2];
  for (const std::size_t k : {0U, 1U}) {
    const Window& one = at[k];
    const std::int64_t first = counts_padding ? 0 : one.before,
                       last = one.before + one.in + (counts_padding ? given[k].behind : 0);
    for (std::int64_t i = 0; i < one.out; ++i) {
      const std::int64_t begin = std::max(i * one.stride, first),
                         end = std::min(i * one.stride + one.kernel, last);
      factors[k].push_back(static_cast<float>(one.kernel) / static_cast<float>(end - begin));
    }
  }
  onnx::Tensor shares = onnx::Tensor::of({1, 1, at[0].out, at[1].out}, {});
  for (const float row : factors[0])
    for (const float column : factors[1]) shares.floats.push_back(row * column);
  return shares;
}

void write_average_pool(GraphWriter& w) {
  const Value x = w.input(0);
  const Ints kernel = w.node().integers("kernel_shape");
  const bool counts_padding = w.node().integer("count_include_pad", 0) != 0;
  const Windows at = windows_of(w, x, kernel);
  Windows given = at;  // the padding as it was asked for
  const Ints pads = w.node().integers("pads", Ints(2 * kernel.size(), 0));
  for (std::size_t k = 0; k < kernel.size(); ++k)
    given[2 - kernel.size() + k].behind = pads[kernel.size() + k];
  onnx::Tensor shares = shares_of(at, given, counts_padding);
  const bool is_plain = std::all_of(shares.floats.begin(), shares.floats.end(),
                                    [](float share) { return share == 1; });
  int image = image_of(w, x);
  const bool leaves_out = is_same(at) && !counts_padding;
  if (!leaves_out) image = padded(w, image, at, 0);
  Value y = value_of(w, x, pooled(w, ops::kAveragePool, image, at, leaves_out ? kSame : kValid),
                     x.dims[1]);
  if (!leaves_out && !is_plain) {
    if (x.rank() == 3) shares.dims.erase(shares.dims.begin() + 2);
    y = binary(w, ops::kMul, y, w.of("shares", std::move(shares)));
  }
  w.end(y);
}

void write_response_norm(GraphWriter& w) {
  const Value x = w.input(0);
  const std::int64_t size = w.node().integer("size", 1);
  if (size % 2 == 0 || x.rank() != 4) throw Unwritable("it is over an even number of channels");
  const int image = image_of(w, x);
  const auto alpha = w.node().number("alpha", 1e-4) / static_cast<double>(size);
  const Options options = GraphWriter::options(file::CreateResponseNormOptions(
      w.builder(), static_cast<int>(size / 2), static_cast<float>(w.node().number("bias", 1)),
      static_cast<float>(alpha), static_cast<float>(w.node().number("beta", 0.75))));
  const int y = w.add(ops::kResponseNorm, {image}, w.tensor_dims(image), options);
  w.end(value_of(w, x, y, x.dims[1]));
}

// Which pixel is the nearest is one rule for each way of counting.
void require_rounding(const onnx::Node& node, const std::string& coordinates) {
  const std::string rounding = node.word("nearest_mode", "round_prefer_floor");
  if (rounding != (coordinates == "asymmetric" ? "floor" : "round_prefer_ceil"))
    throw Unwritable("the format has no " + coordinates + " with " + rounding);
}

void write_resize(GraphWriter& w) {
  const Value x = w.input(0);
  const Ints sizes = w.input_ints(3);
  if (x.rank() != 4 || sizes.size() != 4) throw Unwritable("its input is no image");
  const bool is_linear = w.node().word("mode", "nearest") == "linear";
  const std::string coordinates = w.node().word("coordinate_transformation_mode", "half_pixel");
  const bool aligns = coordinates == "align_corners", halves = coordinates == "half_pixel";
  if (!aligns && !halves && coordinates != "asymmetric")
    throw Unwritable("the format has no " + coordinates);
  if (!is_linear) require_rounding(w.node(), coordinates);
  const int image = image_of(w, x);
  const Options options =
      is_linear
          ? GraphWriter::options(
                file::CreateResizeBilinearOptions(w.builder(), 0, 0, aligns, halves))
          : GraphWriter::options(file::CreateResizeNearestOptions(w.builder(), aligns, halves));
  const int y =
      w.add(is_linear ? ops::kResizeBilinear : ops::kResizeNearest,
            {image, w.ints({sizes[2], sizes[3]})}, {1, sizes[2], sizes[3], x.dims[1]}, options);
  w.end(value_of(w, x, y, x.dims[1]));
}

}  // namespace

void add_window_writers(NodeWriters& writers) {
  writers.insert({{"AveragePool", write_average_pool},
                  {"Conv", write_convolution},
                  {"LRN", write_response_norm},
                  {"MaxPool", write_max_pool},
                  {"Resize", write_resize}});
}

}  // namespace moil::tflite
