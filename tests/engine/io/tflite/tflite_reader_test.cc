#include "engine/io/tflite/tflite_reader.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/files/file.h"
#include "engine/device/conv/kernel_selector.h"
#include "engine/model/preparation.h"
#include "engine/run/network.h"
#include "tests/engine/io/tflite/small_files.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace moil::tflite::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The network's answer to 0, 1/n, 2/n, ..., in its own order of dims.
std::vector<float> answer_of(onnx::ImportedModel model) {
  KernelSelector::Options options;
  options.measure = false;
  KernelSelector kernels(options);
  Network network(prepare_inference(model.description, model.weights), {.batch = 1, .plan = {}},
                  kernels);
  network.allocate();
  network.load(model.weights);
  const std::int64_t count = network.input_info(0).dims.elements();
  for (std::int64_t i = 0; i < count; ++i)
    network.input(0)[i] = static_cast<float>(i) / static_cast<float>(count);
  network.forward();
  return {network.output(0), network.output(0) + network.output_info(0).dims.elements()};
}

std::vector<std::string> layer_types(const onnx::ImportedModel& model) {
  std::vector<std::string> types;
  for (const LayerDescription& layer : model.description.layers) types.push_back(layer.type);
  return types;
}

// The same by plain loops.
std::vector<double> expected_of_classifier() {
  const auto weight = [](std::size_t i) { return static_cast<double>(i * 7 % 3) - 1; };
  const auto pixel = [](int y, int x, int c) {
    return y < 0 || x < 0 || y > 5 || x > 5 ? 0.0 : ((y * 6 + x) * 2 + c) / 72.0;
  };
  const double bias[] = {0.5, -0.5, 0, 1}, class_bias[] = {0, 0.25, 0.5};
  double first[3][3][4];
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 3; ++x)
      for (int o = 0; o < 4; ++o) {
        double sum = bias[o];
        for (int i = 0; i < 18; ++i)  // SAME with stride 2: the zeros stand behind
          sum += weight(static_cast<std::size_t>(o * 18 + i)) *
                 pixel(2 * y + i / 6, 2 * x + i / 2 % 3, i % 2);
        first[y][x][o] = std::clamp(sum, 0.0, 6.0);
      }
  double logits[3], all = 0;
  for (int k = 0; k < 3; ++k) {
    logits[k] = class_bias[k];
    for (int o = 0; o < 4; ++o) {
      double mean = 0;
      for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 3; ++x)
          for (int i = 0; i < 9; ++i) {
            const int v = y + i / 3 - 1, u = x + i % 3 - 1;
            if (v >= 0 && u >= 0 && v < 3 && u < 3)
              mean += weight(static_cast<std::size_t>(i * 4 + o)) * first[v][u][o] / 9;
          }
      logits[k] += weight(static_cast<std::size_t>(k * 4 + o)) * mean;
    }
  }
  for (const double logit : logits) all += std::exp(logit);
  return {std::exp(logits[0]) / all, std::exp(logits[1]) / all, std::exp(logits[2]) / all};
}

TEST(TfliteReader, AClassifierAnswersAsItsFileSays) {
  for (const Kept kept : {Kept::kFloats, Kept::kHalves, Kept::kBytes, Kept::kBytesOfChannels}) {
    const onnx::ImportedModel model = imported(small_classifier(kept));
    EXPECT_THAT(layer_types(model), ElementsAre("conv2d", "relu6", "conv2d", "global_average_pool",
                                                "fully_connected", "softmax"));
    EXPECT_THAT(model.description.inputs.at(0).dims, ElementsAre(2, 6, 6));
    EXPECT_FALSE(model.takes_bytes);
    const std::vector<float> answer = answer_of(model);
    const std::vector<double> expected = expected_of_classifier();
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(answer[i], expected[i], 1e-5) << static_cast<int>(kept);
  }
}

TEST(TfliteReader, PixelsThatAreBytesAreTakenFrom0To255) {
  const std::vector<float> of_bytes =
      answer_of(imported(small_classifier(Kept::kFloats, TensorType::UINT8)));
  for (const TensorType type : {TensorType::UINT8, TensorType::INT8}) {
    const onnx::ImportedModel model = imported(small_classifier(Kept::kBytes, type));
    EXPECT_TRUE(model.takes_bytes);
    EXPECT_EQ(answer_of(model), of_bytes) << "a signed byte is the pixel less 128";
  }
}

TEST(TfliteReader, ShapesAreComputedAndNormsFound) {
  const onnx::ImportedModel model = imported(small_arrangement());
  EXPECT_THAT(layer_types(model), ::testing::Contains("layer_norm"));
  std::vector<double> x;
  for (const int row : {0, 1})
    for (const int column : {4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3})
      x.push_back((12 * row + column) / 24.0);
  double y[2] = {0, 0};
  for (const std::size_t row : {0U, 1U}) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < 12; ++i) mean += x[12 * row + i] / 12;
    for (std::size_t i = 0; i < 12; ++i) variance += std::pow(x[12 * row + i] - mean, 2) / 12;
    for (std::size_t i = 0; i < 12; ++i)
      for (const std::size_t o : {0U, 1U})
        y[o] += (static_cast<double>((24 * o + 12 * row + i) % 5) - 2) * (x[12 * row + i] - mean) /
                std::sqrt(variance + 1e-3);
  }
  const std::vector<float> answer = answer_of(model);
  EXPECT_NEAR(answer[0], y[0], 1e-4);
  EXPECT_NEAR(answer[1], y[1], 1e-4);
}

TEST(TfliteReader, ASpectrumOfFramesIsOneConvolution) {
  const onnx::ImportedModel model = imported(small_spectrum());
  EXPECT_THAT(layer_types(model),
              ElementsAre("reshape", "reshape", "conv2d", "permute", "reshape", "multiply", "power",
                          "slice", "flatten", "fully_connected"));
  const double window[] = {0, 1, 2, 3, 3, 2, 1, 0};
  const std::vector<float> answer = answer_of(model);
  for (int t = 0; t < 3; ++t) {
    for (int k = 0; k < 2; ++k) {
      double band = 0;
      for (int b = 0; b < 5; ++b)
        for (int j = 0; j < 8; ++j)
          band += ((5 * k + b) % 4 - 1) * window[j] * (4 * t + j) / 16 *
                  std::cos(2 * std::numbers::pi * j * b / 8);
      EXPECT_NEAR(answer[static_cast<std::size_t>(2 * t + 1 - k)], std::pow(band * band, 0.375),
                  1e-5);
    }
  }
}

// The larger of each number's opposite and the largest of them less 0.25, over all axes.
std::string limited_file(const Dims& dims, const Dims& signature) {
  Builder b;
  const int x = b.open("x", dims, signature), y = b.computed("y", dims);
  constexpr int kNeg = 59;
  b.op(kNeg, {x}, y);
  const int most = b.op(kReduceMax, {y, b.ints("axes", {0, 1})}, b.computed("most", {}));
  const int limit = b.op(kSub, {most, b.floats("quarter", {}, {0.25F})}, b.computed("limit", {}));
  return b.finish({x}, {b.op(kMaximum, {y, limit}, b.computed("z", dims))});
}

TEST(TfliteReader, ExtentsThatAreOpenAreAskedFor) {
  const onnx::Graph graph = parse_tflite(bytes_in(limited_file({1, 1}, {-1, -1})));
  moil::test::expect_error(ErrorCode::kInvalidArgument,
                           "the file leaves its dims open (1x?, batch first)",
                           [&] { (void)onnx::import_onnx(graph); });
  onnx::ImportOptions options;
  options.input_dims = {6};
  const onnx::ImportedModel model = onnx::import_onnx(graph, options);
  const std::vector<float> answer = answer_of(model);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_FLOAT_EQ(answer[i], std::max(-static_cast<float>(i) / 6, -0.25F)) << i;
  for (const Dims& signature : {Dims{-1, 6}, Dims{-1, -1}, Dims{1, 6}, Dims{-1}})
    EXPECT_EQ(answer_of(imported(limited_file({1, 6}, signature))), answer);
}

std::string refusal_of_file(const std::string& bytes, ErrorCode code) {
  std::string text;
  try {
    (void)imported(bytes);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    text = e.what();
  }
  EXPECT_FALSE(text.empty()) << "it was imported";
  return text;
}

TEST(TfliteReader, OperatorsThatAreNotSupportedAreNamed) {
  Builder b;
  const int x = b.computed("x", {1, 4});
  const int y = b.computed("y", {1, 4}), z = b.computed("z", {1, 4});
  b.op(kCustom, {x}, std::vector<int>{y}, {}, "Secret");
  b.op(66, {y}, z);
  const std::string text = refusal_of_file(b.finish({x}, {z}), ErrorCode::kUnimplemented);
  EXPECT_THAT(text, HasSubstr("2 of 2 operators"));
  EXPECT_THAT(text, HasSubstr("\"y\" (custom operator Secret)"));
  EXPECT_THAT(text, HasSubstr("\"z\" (operator number 66)"));
}

TEST(TfliteReader, ComplexNumbersAreRefused) {
  EXPECT_THAT(refusal_of_file(small_spectrum(Spectrum::kMagnitude), ErrorCode::kUnimplemented),
              HasSubstr("\"y\" (operator number 134): it is not supported"));
  EXPECT_THAT(refusal_of_file(small_spectrum(Spectrum::kOfRows), ErrorCode::kUnimplemented),
              HasSubstr("only transforms along the last axis"));
  Builder b;
  const int x = b.computed("x", {1, 4}, TensorType::COMPLEX64);
  const int y = b.op(kAdd, {x, x}, b.computed("y", {1, 4}, TensorType::COMPLEX64));
  EXPECT_THAT(refusal_of_file(b.finish({x}, {y}), ErrorCode::kUnimplemented),
              HasSubstr("only the real parts are supported"));
}

TEST(TfliteReader, TensorsThatContradictThemselvesAreNamed) {
  const auto of = [](const auto& add) {
    Builder b;
    const int x = b.computed("x", {1, 4});
    return refusal_of_file(b.finish({x}, {b.op(kAdd, {x, add(b)}, b.computed("y", {1, 4}))}),
                           ErrorCode::kBadData);
  };
  const std::vector<std::int8_t> four(4);
  EXPECT_THAT(of([](Builder& b) {
                return b.floats("w", {5}, {1, 2, 3, 4});
              }),
              HasSubstr("tensor \"w\" has 16 bytes; its dims ask for 20"));
  EXPECT_THAT(of([](Builder& b) {
                return b.floats("w", {-4}, {1, 2, 3, 4});
              }),
              HasSubstr("dims that no tensor can have"));
  EXPECT_THAT(of([](Builder& b) {
                return b.floats("w", {1 << 30, 1 << 30}, {1});
              }),
              HasSubstr("dims that no tensor can have"));
  EXPECT_THAT(of([&](Builder& b) {
                return b.constant("w", {4}, TensorType::INT8, four, {{1, 2}, {0, 0}, 0});
              }),
              HasSubstr("scales that do not fit"));
  EXPECT_THAT(of([&](Builder& b) {
                return b.constant("w", {4}, TensorType::INT8, four, {{1, 2, 3, 4}, {0}, 0});
              }),
              HasSubstr("zero points that do not fit"));
  EXPECT_THAT(of([&](Builder& b) {
                return b.constant("w", {4}, TensorType::INT8, four, {{1, 2, 3, 4}, {}, -1});
              }),
              HasSubstr("scales that do not fit"));
}

TEST(TfliteReader, NumbersOfTensorsThatAreNotThereAreRefused) {
  for (const int wrong : {-2, 2, 1 << 30}) {
    Builder b;
    const int x = b.computed("x", {1, 4});
    const int y = b.computed("y", {1, 4});
    b.op(kAdd, {x, wrong}, y);
    EXPECT_THAT(refusal_of_file(b.finish({x}, {y}), ErrorCode::kBadData),
                HasSubstr("names tensor"));
  }
}

// Every way of cutting a file, and every byte of it changed.
TEST(TfliteReader, DamagedFilesDoNoHarm) {
  for (const std::string& whole :
       {small_classifier(Kept::kBytesOfChannels), small_arrangement(), small_spectrum(),
        limited_file({1, 1}, {-1, -1}), limited_file({1, 3}, {-1, 3}), small_export()}) {
    for (std::size_t size = 0; size < whole.size(); ++size)
      EXPECT_THROW((void)parse_tflite(bytes_in(whole.substr(0, size))), Error) << size;
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const unsigned change : {0x01U, 0x80U, 0xFFU}) {
        std::string other = whole;
        other[at] = static_cast<char>(static_cast<unsigned char>(other[at]) ^ change);
        try {
          (void)imported(other);
        } catch (const Error&) {  // says what is wrong
        }
      }
    }
  }
}

TEST(TfliteReader, FilesAreKnownByTheirIdentifier) {
  const moil::test::ScratchFolder folder;
  write_file_atomic(folder / "a.tflite", small_arrangement());
  write_file_atomic(folder / "b.tflite", std::string("TFL3"));
  write_file_atomic(folder / "c.tflite", small_arrangement().substr(0, 40));
  EXPECT_TRUE(is_tflite(folder / "a.tflite"));
  EXPECT_FALSE(is_tflite(folder / "b.tflite"));
  EXPECT_FALSE(is_tflite(folder / "nowhere"));
  EXPECT_NO_THROW((void)read_tflite(folder / "a.tflite"));
  moil::test::expect_error(ErrorCode::kBadData, "c.tflite: it is no TensorFlow Lite file",
                           [&] { (void)read_tflite(folder / "c.tflite"); });
}

}  // namespace
}  // namespace moil::tflite::test
