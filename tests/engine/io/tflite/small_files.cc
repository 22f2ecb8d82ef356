#include "tests/engine/io/tflite/small_files.h"

#include "base/half_floats.h"
#include "engine/io/tflite/export/tflite_export.h"
#include "engine/model/graph.h"
#include "engine/model/initial_weights.h"

namespace moil::tflite::test {
namespace {

std::vector<float> pattern(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(static_cast<int>(i * 7 % 3) - 1);
  return values;
}

class Weights {
 public:
  Weights(Builder& b, Kept kept) : b_(b), kept_(kept) {}

  // channels: the axis of the outputs.
  int add(const std::string& name, const Dims& dims, int channels) {
    std::size_t count = 1;
    for (const int extent : dims) count *= static_cast<std::size_t>(extent);
    const std::vector<float> values = pattern(count);
    if (kept_ == Kept::kFloats) return b_.floats(name, dims, values);
    if (kept_ == Kept::kHalves) {
      std::vector<std::uint16_t> halves;
      for (const float value : values) halves.push_back(to_f16(value));
      const int stored = b_.constant(name, dims, TensorType::FLOAT16, halves);
      return b_.op(kDequantize, {stored}, b_.computed(name + "_floats", dims));
    }
    std::vector<std::int8_t> bytes;
    for (const float value : values) bytes.push_back(static_cast<std::int8_t>(4 * value + 3));
    const auto outputs = kept_ == Kept::kBytes
                             ? 1U
                             : static_cast<std::size_t>(dims[static_cast<std::size_t>(channels)]);
    const Scales scales{std::vector<float>(outputs, 0.25F), std::vector<std::int64_t>(outputs, 3),
                        channels};
    return b_.constant(name, dims, TensorType::INT8, bytes, scales);
  }

 private:
  Builder& b_;
  const Kept kept_;
};

}  // namespace

std::string small_classifier(Kept kept, TensorType input) {
  Builder b;
  Weights weights(b, kept);
  const bool is_short = input != TensorType::FLOAT32;
  const std::int64_t zero = input == TensorType::UINT8 ? 128 : 0;
  const Scales pixels = is_short ? Scales{{1.0F / 128}, {zero}, 0} : Scales{};
  const int x = b.computed("image", {1, 6, 6, 2}, input, pixels);
  const int bias = b.floats("first/bias", {4}, {0.5F, -0.5F, 0, 1});
  const int first = b.op(kConvolution, {x, weights.add("first/kernel", {4, 3, 3, 2}, 0), bias},
                         b.computed("first/Relu6;first/Conv2D", {1, 3, 3, 4}),
                         Builder::options(file::CreateConvolutionOptions(b.fbb, 0, 2, 2, 3)));
  const int second = b.op(kDepthwise, {first, weights.add("second/kernel", {1, 3, 3, 4}, 3), -1},
                          b.computed("second", {1, 3, 3, 4}),
                          Builder::options(file::CreateDepthwiseOptions(b.fbb, 0, 1, 1, 1)));
  const int mean = b.op(kMean, {second, b.ints("axes", {1, 2})}, b.computed("mean", {1, 4}),
                        Builder::options(file::CreateReducerOptions(b.fbb)));
  const int logits = b.op(kFullyConnected,
                          {mean, weights.add("classes/kernel", {3, 4}, 0),
                           b.floats("classes/bias", {3}, {0, 0.25F, 0.5F})},
                          b.computed("classes", {1, 3}),
                          Builder::options(file::CreateFullyConnectedOptions(b.fbb)));
  const int answer = b.op(kSoftmax, {logits}, b.computed("answer", {1, 3}),
                          Builder::options(file::CreateSoftmaxOptions(b.fbb, 1)));
  return b.finish({x}, {answer});
}

std::string small_arrangement() {
  Builder b;
  const int x = b.computed("x", {1, 4, 6});
  const int shape = b.op(kShape, {x}, b.computed("shape", {3}, TensorType::INT32));
  const int rows =
      b.op(kStridedSlice, {shape, b.ints("b", {1}), b.ints("e", {2}), b.ints("s", {1})},
           b.computed("rows", {}, TensorType::INT32),
           Builder::options(file::CreateStridedSliceOptions(b.fbb, 0, 0, 0, 0, 1)));
  const int half = b.op(
      kFloorDiv, {rows, b.constant("two", {}, TensorType::INT32, std::vector<std::int32_t>{2})},
      b.computed("half", {}, TensorType::INT32));
  const int wish =
      b.op(kPack,
           {b.constant("one", {}, TensorType::INT32, std::vector<std::int32_t>{1}), half,
            b.constant("rest", {}, TensorType::INT32, std::vector<std::int32_t>{12})},
           b.computed("wish", {3}, TensorType::INT32),
           Builder::options(file::CreatePackOptions(b.fbb, 3, 0)));
  const int wide = b.op(kReshape, {x, wish}, b.computed("wide", {1, 2, 12}));
  const int left = b.computed("left", {1, 2, 4}), right = b.computed("right", {1, 2, 8});
  b.op(kSplitV,
       {wide, b.ints("sizes", {4, -1}),
        b.constant("axis", {}, TensorType::INT32, std::vector<std::int32_t>{2})},
       std::vector<int>{left, right});
  const int turned = b.op(kConcatenation, {right, left}, b.computed("turned", {1, 2, 12}),
                          Builder::options(file::CreateConcatenationOptions(b.fbb, 2)));
  const int axes = b.ints("last", {2});
  const auto mean_options = [&] {
    return Builder::options(file::CreateReducerOptions(b.fbb, true));
  };
  const int mean = b.op(kMean, {turned, axes}, b.computed("mean", {1, 2, 1}), mean_options());
  const int centred = b.op(kSub, {turned, mean}, b.computed("centred", {1, 2, 12}));
  const int squared = b.op(kSquaredDifference, {turned, mean}, b.computed("squared", {1, 2, 12}));
  const int variance =
      b.op(kMean, {squared, axes}, b.computed("variance", {1, 2, 1}), mean_options());
  const int safe =
      b.op(kAdd, {variance, b.floats("epsilon", {}, {1e-3F})}, b.computed("safe", {1, 2, 1}));
  const int root = b.op(kRsqrt, {safe}, b.computed("root", {1, 2, 1}));
  const int normed = b.op(kMul, {centred, root}, b.computed("normed", {1, 2, 12}));
  const int flat =
      b.op(kReshape, {normed}, b.computed("flat", {1, 24}),
           Builder::options(file::CreateReshapeOptions(b.fbb, b.fbb.CreateVector(Dims{1, 24}))));
  std::vector<float> weights(48);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 5) - 2;
  const int y =
      b.op(kFullyConnected, {flat, b.floats("out/kernel", {2, 24}, weights), -1},
           b.computed("out", {1, 2}), Builder::options(file::CreateFullyConnectedOptions(b.fbb)));
  return b.finish({x}, {y});
}

std::string small_spectrum(Spectrum what) {
  Builder b;
  const auto whole = [&](const std::string& name, std::int32_t value) {
    return b.constant(name, {}, TensorType::INT32, std::vector<std::int32_t>{value});
  };
  const int x = b.computed("x", {1, 16});
  const int shape = b.op(kShape, {x}, b.computed("shape", {2}, TensorType::INT32));
  const int batch = b.computed("batch", {1}, TensorType::INT32),
            sizes = b.computed("size", {1}, TensorType::INT32),
            none = b.computed("none", {0}, TensorType::INT32);
  b.op(kSplitV, {shape, b.ints("sizes", {1, 1, 0}), whole("axis", 0)},
       std::vector<int>{batch, sizes, none});
  const int size = b.op(kReshape, {sizes, b.computed("of_one", {0}, TensorType::INT32)},
                        b.computed("samples", {}, TensorType::INT32));
  const int pairs =
      b.op(kFloorDiv, {size, whole("two", 2)}, b.computed("p", {}, TensorType::INT32));
  const int wish = b.op(kPack, {whole("all", -1), pairs, whole("pair", 2)},
                        b.computed("wish", {3}, TensorType::INT32),
                        Builder::options(file::CreatePackOptions(b.fbb, 3, 0)));
  const int paired = b.op(kReshape, {x, wish}, b.computed("paired", {1, 1, 2}));
  // Windows of 4 pairs, 2 pairs apart.
  const int steps = b.op(kRange, {whole("zero", 0), whole("three", 3), whole("one", 1)},
                         b.computed("steps", {1}, TensorType::INT32));
  const int begins =
      b.op(kMul, {steps, whole("apart", 2)}, b.computed("begins", {1}, TensorType::INT32));
  const int column = b.op(kReshape, {begins, b.ints("as_column", {3, 1})},
                          b.computed("column", {1, 1}, TensorType::INT32));
  const int indices =
      b.op(kAdd, {column, b.constant("places", {1, 4}, TensorType::INT32, std::vector{0, 1, 2, 3})},
           b.computed("indices", {1, 4}, TensorType::INT32));
  const int gathered = b.op(kGather, {paired, indices}, b.computed("gathered", {1, 1, 4, 2}),
                            Builder::options(file::CreateGatherOptions(b.fbb, 1)));
  const int frames =
      b.op(kReshape, {gathered, b.ints("as_frames", {-1, 3, 8})}, b.computed("frames", {1, 1, 8}));
  const int windowed = b.op(kMul, {frames, b.floats("window", {8}, {0, 1, 2, 3, 3, 2, 1, 0})},
                            b.computed("windowed", {1, 1, 8}));
  const int line =
      b.op(kExpandDims, {windowed, whole("before", -2)}, b.computed("line", {1, 1, 1, 8}));
  const int spectrum =
      b.op(kRfft2d, {line, b.ints("length", {what == Spectrum::kOfRows ? 2 : 1, 8})},
           b.computed("spectrum", {1, 1, 1, 5}, TensorType::COMPLEX64));
  if (what == Spectrum::kMagnitude)
    return b.finish({x}, {b.op(kComplexAbs, {spectrum}, b.computed("y", {1, 1, 1, 5}))});
  const int squeezed =
      b.op(kSqueeze, {spectrum}, b.computed("squeezed", {1, 1, 5}, TensorType::COMPLEX64),
           Builder::options(file::CreateSqueezeOptions(b.fbb, b.fbb.CreateVector(Dims{2}))));
  const int real = b.op(
      kCast, {squeezed}, b.computed("real", {1, 1, 5}),
      Builder::options(file::CreateCastOptions(b.fbb, TensorType::COMPLEX64, TensorType::FLOAT32)));
  std::vector<float> bands(10);
  for (std::size_t i = 0; i < bands.size(); ++i) bands[i] = static_cast<float>(i % 4) - 1;
  const int rows = b.op(kReshape, {real, b.ints("as_rows", {3, 5})}, b.computed("rows", {1, 5}));
  const int mel =
      b.op(kFullyConnected, {rows, b.floats("bands", {2, 5}, bands), -1}, b.computed("mel", {1, 2}),
           Builder::options(file::CreateFullyConnectedOptions(b.fbb)));
  const int back =
      b.op(kReshape, {mel, b.ints("as_mel", {1, 3, 2})}, b.computed("back", {1, 1, 2}));
  const int energy = b.op(kMul, {back, back}, b.computed("energy", {1, 1, 2}));
  const int bent =
      b.op(kPow, {energy, b.floats("exponent", {}, {0.375F})}, b.computed("bent", {1, 1, 2}));
  const int turned = b.op(kReverse, {bent, b.ints("last", {2})}, b.computed("turned", {1, 1, 2}));
  const int flat =
      b.op(kReshape, {turned, b.ints("as_vector", {-1, 6})}, b.computed("flat", {1, 6}));
  std::vector<float> weights(36, 0);
  for (std::size_t i = 0; i < 6; ++i) weights[7 * i] = 1;
  return b.finish({x}, {b.op(kFullyConnected, {flat, b.floats("out", {6, 6}, weights), -1},
                             b.computed("y", {1, 6}),
                             Builder::options(file::CreateFullyConnectedOptions(b.fbb)))});
}

std::string small_export() {
  ModelDescription model;
  model.name = "small";
  model.inputs = {{"image", {2, 5, 5}}};
  const Properties convolution = {{"out_channels", std::int64_t{4}},
                                  {"kernel", std::int64_t{3}},
                                  {"padding", std::int64_t{1}},
                                  {"stride", std::int64_t{2}}};
  model.layers = {{"edges", "conv2d", {"image"}, convolution},
                  {"cut", "relu6", {"edges"}, {}},
                  {"flat", "flatten", {"cut"}, {}},
                  {"classes", "fully_connected", {"flat"}, {{"units", std::int64_t{3}}}}};
  model.outputs = {"classes"};
  return export_tflite(model, initial_weights(build_graph(model, 1), 3),
                       {{"moil.labels", R"(["a","b","c"])"}});
}

}  // namespace moil::tflite::test
