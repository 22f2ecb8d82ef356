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

// A line's kernel as an image's of one row.
Value raised_to_rows(GraphWriter& w, onnx::Tensor kernel) {
  kernel.dims.insert(kernel.dims.begin() + 2, 1);
  return w.of("kernel", std::move(kernel));
}

// No bias is one of zeros.
int bias_of(GraphWriter& w, std::int64_t outputs) {
  if (w.has(2)) return w.plain(w.input(2));
  std::vector<float> zeros(static_cast<std::size_t>(outputs));
  return w.plain(w.of("bias", onnx::Tensor::of({outputs}, std::move(zeros))));
}

// Weights [outputs, inputs of a group, (rows,) columns].
void write_convolution(GraphWriter& w) {
  const Value x = w.input(0);
  Value weights = w.input(1);
  const onnx::Tensor& kernel = w.input_constant(1);
  if (kernel.dims.size() != x.rank()) throw Unwritable("its weights do not fit its input");
  const std::int64_t outputs = kernel.dims[0], channels = x.dims[1],
                     groups = w.node().integer("group", 1);
  const Windows at = windows_of(w, x, {kernel.dims.begin() + 2, kernel.dims.end()});
  if (x.rank() == 3) weights = raised_to_rows(w, kernel);
  const bool is_depthwise = groups == channels && groups > 1;
  const int filter = w.in_order(weights, is_depthwise ? Ints{1, 2, 3, 0} : Ints{0, 2, 3, 1}),
            bias = bias_of(w, outputs);
  int image = image_of(w, x);
  const std::int8_t padding = pad(w, image, at, 0);
  const int activation = w.take_activation();
  const bool is_dilated = at[0].dilation > 1 || at[1].dilation > 1;
  const OperatorCode code =
      is_depthwise ? (is_dilated ? ops::kDilatedDepthwise : ops::kDepthwise) : ops::kConvolution;
  const Options options =
      convolution_options(w, at, padding, is_depthwise ? outputs / channels : 0, activation);
  const int y = w.add(code, {image, filter, bias}, {1, at[0].out, at[1].out, outputs}, options);
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

// What a mean counts of its windows: the image, and of the padding what the node asks for.
struct Counted {
  Windows at;
  std::array<std::int64_t, 2> first = {}, last = {};  // of an axis, its padding included

  // pads: what the node asks for.
  Counted(const Windows& windows, const Ints& pads, bool counts_padding) : at(windows) {
    const std::size_t axes = pads.size() / 2;
    for (const std::size_t k : {0U, 1U}) {
      const bool has_pads = counts_padding && k + axes >= 2;
      first[k] = has_pads ? 0 : at[k].before;
      last[k] = at[k].before + at[k].in + (has_pads ? pads[k + 2 * axes - 2] : 0);
    }
  }
  [[nodiscard]] bool is_all() const {
    for (const std::size_t k : {0U, 1U})
      if (first[k] > 0 || at[k].before + at[k].in + at[k].behind > last[k]) return false;
    return true;
  }
  // By what the mean of a whole window must be multiplied; [1, 1, rows, columns].
  [[nodiscard]] onnx::Tensor shares() const {
    std::vector<float> factors[2];
    for (const std::size_t k : {0U, 1U})
      for (std::int64_t i = 0; i < at[k].out; ++i) {
        const std::int64_t begin = std::max(i * at[k].stride, first[k]),
                           end = std::min(i * at[k].stride + at[k].kernel, last[k]);
        factors[k].push_back(static_cast<float>(at[k].kernel) / static_cast<float>(end - begin));
      }
    onnx::Tensor shares = onnx::Tensor::of({1, 1, at[0].out, at[1].out}, {});
    for (const float row : factors[0])
      for (const float column : factors[1]) shares.floats.push_back(row * column);
    return shares;
  }
};

// The mean of zeros and all, times what makes one of those that are counted of it.
Value corrected_mean(GraphWriter& w, const Value& x, const Windows& at, const Counted& counted) {
  constexpr std::int64_t kMostPixels = std::int64_t{1} << 24;
  if (!counted.is_all() && at[0].out > kMostPixels / at[1].out)
    throw Unwritable("its result has too many pixels");
  const int image = padded(w, image_of(w, x), at, 0);
  const int mean = pooled(w, ops::kAveragePool, image, at, kValid);
  const Value y = value_of(w, x, mean, x.dims[1]);
  if (counted.is_all()) return y;
  onnx::Tensor shares = counted.shares();
  if (x.rank() == 3) shares.dims.erase(shares.dims.begin() + 2);
  return binary(w, ops::kMul, y, w.of("shares", std::move(shares)));
}

void write_average_pool(GraphWriter& w) {
  const Value x = w.input(0);
  const Ints kernel = w.node().integers("kernel_shape");
  const Windows at = windows_of(w, x, kernel);
  const bool counts_padding = w.node().integer("count_include_pad", 0) != 0;
  if (is_same(at) && !counts_padding) {  // which leaves zeros out by itself
    const int mean = pooled(w, ops::kAveragePool, image_of(w, x), at, kSame);
    return w.end(value_of(w, x, mean, x.dims[1]));
  }
  const Ints pads = w.node().integers("pads", Ints(2 * kernel.size(), 0));
  w.end(corrected_mean(w, x, at, Counted(at, pads, counts_padding)));
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
