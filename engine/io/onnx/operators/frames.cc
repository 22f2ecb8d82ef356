// Frames of a signal, as tf.signal.frame cuts them out by indices, and their products with
// constants: a window's, the cosines of a Fourier transform, a bank of filters. All of it is linear
// in the frame, so that it is one convolution along the signal, whose kernel is the product.
#include <algorithm>

#include "base/index.h"
#include "engine/io/onnx/operators/arithmetic.h"
#include "engine/io/onnx/operators/operators.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

// Half a second at 16 kHz; a longer one is none of a spectrogram's.
constexpr std::int64_t kLongestWindow = 8192;

// first + hop * t + j at [t, j].
struct Indices {
  std::int64_t first = 0, hop = 1;
};

bool are_frames(const Tensor& indices, std::int64_t size, Indices& found) {
  if (indices.is_float || indices.dims.size() != 2 || indices.ints.empty()) return false;
  const std::int64_t count = indices.dims[0], width = indices.dims[1];
  found.first = indices.ints[0];
  if (found.first < 0 || found.first >= size) return false;
  found.hop = count > 1 ? indices.ints[at(width)] - found.first : 1;
  if (found.hop < 1 || found.hop >= size || count > size || width > size) return false;
  if (found.first + (count - 1) * found.hop + width > size) return false;
  for (std::int64_t i = 0; i < count * width; ++i)
    if (indices.ints[at(i)] != found.first + i / width * found.hop + i % width) return false;
  return true;
}

const Value* frames_at(const ImportState& state, const Node& node, std::size_t input) {
  const Value* value = state.find(node.inputs[input]);
  return value != nullptr && value->form == Form::kFrames ? value : nullptr;
}

// What a product with `weight`, [of a frame's numbers, results], makes of the kernel.
std::vector<float> kernel_behind(const Frames& f, const auto& weight, std::int64_t results) {
  std::vector<float> kernel;
  std::vector<double> row(at(f.window));
  for (std::int64_t r = 0; r < results; ++r) {
    std::fill(row.begin(), row.end(), 0.0);
    for (std::int64_t i = 0; i < f.results; ++i) {
      const auto factor = static_cast<double>(weight(i, r));
      if (factor == 0) continue;
      if (f.kernel.empty()) {
        row[at(i)] += factor;
        continue;
      }
      const float* own = f.kernel.data() + i * f.window;
      for (std::int64_t j = 0; j < f.window; ++j)
        row[at(j)] += factor * static_cast<double>(own[j]);
    }
    kernel.insert(kernel.end(), row.begin(), row.end());
  }
  return kernel;
}

// The kernel of frames as they are, too.
std::vector<float> whole_kernel(const Frames& f) {
  if (!f.kernel.empty()) return f.kernel;
  std::vector<float> kernel(at(f.window * f.window));
  for (std::int64_t i = 0; i < f.window; ++i) kernel[at(i * f.window + i)] = 1;
  return kernel;
}

void set_frames(ImportState& state, const Node& node, Value x, Frames frames) {
  std::vector<std::int64_t> dims(x.info.dims.values().begin(), x.info.dims.values().end());
  dims.back() = frames.results;
  x.info.dims = ::moil::Dims(dims);
  x.frames = std::make_shared<const Frames>(std::move(frames));
  state.set(node.outputs[0], std::move(x));
}

}  // namespace

bool import_frames(ImportState& state, const Node& node) {
  if (!state.is_constant(node, 1) || state.is_constant(node, 0)) return false;
  const Tensor& indices = state.constant(node, 1);
  if (indices.dims.size() != 2 || node.integer("axis", 0) != 1) return false;
  const Value x = state.rows(node, 0);
  const Ints dims = file_dims(x);
  Indices found;
  if (x.batch_axis != 0 || dims.size() < 2 || !are_frames(indices, dims[1], found)) return false;
  std::int64_t each = 1;  // numbers that an index stands for
  for (std::size_t k = 2; k < dims.size(); ++k) each *= dims[k];
  Frames frames{std::make_shared<const Value>(x), found.first * each, found.hop * each,
                indices.dims[1] * each, indices.dims[0]};
  frames.results = frames.window;
  if (frames.window > kLongestWindow) return false;
  Value value = x;
  Ints own = {dims[0], indices.dims[0], indices.dims[1]};
  own.insert(own.end(), dims.begin() + 2, dims.end());
  value.info.dims = ::moil::Dims(own);
  value.form = Form::kFrames;
  value.node = &node;
  value.frames = std::make_shared<const Frames>(std::move(frames));
  state.set(node.outputs[0], std::move(value));
  return true;
}

bool scale_frames(ImportState& state, const Node& node, std::size_t input, const Constant& c) {
  const Value* x = frames_at(state, node, input);
  if (x == nullptr || x->info.dims.back() != x->frames->results) return false;
  const auto count = static_cast<std::int64_t>(c.values.size());
  const bool row = c.kind == Constant::Kind::kRow && count == c.dims.back();
  if (c.kind != Constant::Kind::kNumber && !(row && count == x->frames->results)) return false;
  Frames frames = *x->frames;
  state.spend(node, frames.results * frames.window);
  frames.kernel = whole_kernel(frames);
  for (std::int64_t i = 0; i < frames.results * frames.window; ++i)
    frames.kernel[at(i)] *= c.values[count == 1 ? 0 : at(i / frames.window)];
  set_frames(state, node, *x, std::move(frames));
  return true;
}

bool multiply_frames(ImportState& state, const Node& node, bool turned) {
  const Value* x = frames_at(state, node, 0);
  if (x == nullptr || state.has(node, 2) || !state.is_constant(node, 1)) return false;
  const Tensor& weight = state.constant(node, 1);
  Frames frames = *x->frames;
  if (!weight.is_float || weight.dims.size() != 2 || x->info.dims.back() != frames.results ||
      weight.dims[turned ? 1 : 0] != frames.results || node.number("alpha", 1) != 1)
    return false;
  const std::int64_t results = weight.dims[turned ? 0 : 1];
  state.spend(node, results * frames.window);
  const auto number = [&](std::int64_t i, std::int64_t r) {
    return weight.floats[at(turned ? r * frames.results + i : i * results + r)];
  };
  frames.kernel = kernel_behind(frames, number, results);
  frames.results = results;
  set_frames(state, node, *x, std::move(frames));
  return true;
}

void finish_frames(ImportState& state, const Node& node, const Value& x) {
  const Frames& f = *x.frames;
  const std::int64_t used = (f.count - 1) * f.hop + f.window;
  Value v = *f.signal;
  const std::int64_t length = v.info.dims.elements() / v.info.dims[0];
  v = state.add_layer(node, "reshape", {&v},
                      {{"dims", Ints{1, 1, length}}, {"layout", std::string("channels_last")}});
  if (used < length) {
    Properties part = {{"axis", std::int64_t{3}}, {"length", used}};
    if (f.start > 0) part["start"] = f.start;
    v = state.add_layer(node, "slice", {&v}, std::move(part));
  }
  if (f.kernel.empty()) state.spend(node, f.window * f.window);
  v = state.add_layer(node, "conv2d", {&v},
                      {{"out_channels", f.results},
                       {"kernel", Ints{1, f.window}},
                       {"stride", Ints{1, f.hop}},
                       {"bias", false}},
                      {{"weight", {{f.results, 1, 1, f.window}, whole_kernel(f)}}});
  v = state.add_layer(node, "permute", {&v}, permute_properties(v, {0, 2, 3, 1}));
  v.batch_axis = 0;
  state.set_dims(node, v, file_dims(x), x.batch_axis);
}

}  // namespace moil::onnx
