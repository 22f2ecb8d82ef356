// Every layer that goes to ONNX goes to TensorFlow Lite and comes back the same, or is refused by
// name. LiteRT's answers: tests/parity/tflite_export_test.py.
#include "engine/io/tflite/export/tflite_export.h"

#include <gmock/gmock.h>

#include <bit>
#include <set>

#include "engine/device/conv/kernel_selector.h"
#include "engine/layers/factory.h"
#include "engine/run/network.h"
#include "tests/engine/io/tflite/builder.h"
#include "tests/engine/io/tflite/exported_layers.h"

namespace moil::tflite::test {
namespace {

using ::testing::HasSubstr;

// Layers that the format has nothing for.
const std::set<std::string> kRefusedTypes = {"gru",       "gru_cell", "lstm",
                                             "lstm_cell", "rnn",      "rnn_cell"};
// Those that a network has in training alone, which ONNX has nothing for, either.
const std::set<std::string> kTrainingTypes = {"huber",
                                              "mse",
                                              "multi_out",
                                              "scheduled_sampling",
                                              "sigmoid_cross_entropy",
                                              "softmax_cross_entropy"};
// LiteRT runs what is written of them; the importer does not know it, or finds no layer in it.
bool is_one_way(const std::string& name) {
  static const std::vector<std::string> kParts = {"mish",
                                                  "softplus",
                                                  "identity",
                                                  "dropout",
                                                  "permute image",
                                                  "by lengths",
                                                  "causal",
                                                  "multiply image by channels",
                                                  "batch_norm rows",
                                                  "location_attention"};
  return std::any_of(kParts.begin(), kParts.end(),
                     [&](const std::string& part) { return name.find(part) != std::string::npos; });
}

std::string type_of(const std::string& name) { return name.substr(0, name.find(' ')); }

// The element of a tensor, by its place in memory, in the order of the dims.
std::int64_t place_of(std::int64_t i, const TensorInfo& info) {
  if (info.layout != Layout::kChannelsLast) return i;
  const std::int64_t channels = info.dims[1], pixels = info.dims[2] * info.dims[3];
  return i % channels * pixels + i / channels;
}

// A number for each element in the order of these dims; of an image that lies with its channels
// last, where `first` are those of one with its channels first, the same numbers.
float number_at(std::int64_t i, const std::vector<std::int64_t>& dims,
                const std::vector<std::int64_t>& first, std::size_t input) {
  if (dims != first) {
    const std::int64_t channels = first[0], pixels = first[1] * first[2];
    i = i % channels * pixels + i / channels;
  }
  return static_cast<float>(
      std::sin(1.3 * static_cast<double>(i + 1) + static_cast<double>(input)));
}

// The network's answer to numbers of its own, in the order of its dims. as: whose inputs they are.
std::vector<float> answer_of(ImportedModel model, const ImportedModel& as) {
  KernelSelector::Options options;
  options.measure = false;
  KernelSelector kernels(options);
  Network network(prepare_inference(model.description, model.weights), {.batch = 1, .plan = {}},
                  kernels);
  network.allocate();
  network.load(model.weights);
  for (std::size_t k = 0; k < model.description.inputs.size(); ++k) {
    const int input = static_cast<int>(k);
    const TensorInfo& info = network.input_info(input);
    const auto& dims = model.description.inputs[k].dims;
    const auto& first = as.description.inputs.at(k).dims;
    for (std::int64_t i = 0; i < info.dims.elements(); ++i)
      network.input(input)[i] = info.type == ElementType::kInt32
                                    ? std::bit_cast<float>(static_cast<std::int32_t>(i % 3 + 1))
                                    : number_at(place_of(i, info), dims, first, k);
  }
  network.forward();
  const TensorInfo& info = network.output_info(0);
  std::vector<float> answer(static_cast<std::size_t>(info.dims.elements()));
  for (std::int64_t i = 0; i < info.dims.elements(); ++i)
    answer[static_cast<std::size_t>(place_of(i, info))] = network.output(0)[i];
  return answer;
}

std::string bytes_of(const ImportedModel& model) {
  return export_tflite(model.description, model.weights);
}

TEST(TfliteExport, EveryTypeOfLayerIsTried) {
  std::set<std::string> tried;
  for (const auto& [name, model] : exported_layers()) tried.insert(type_of(name));
  for (const std::string& type : layer_types())
    EXPECT_EQ(tried.contains(type), !kTrainingTypes.contains(type)) << type;
}

TEST(TfliteExport, LayersComeBackTheSame) {
  for (const auto& [name, model] : exported_layers()) {
    SCOPED_TRACE(name);
    if (kRefusedTypes.contains(type_of(name))) continue;
    const std::string bytes = bytes_of(model);
    ImportedModel again;
    if (is_one_way(name)) {
      EXPECT_THROW((void)imported(bytes), Error);
      continue;
    }
    ASSERT_NO_THROW(again = imported(bytes));
    const std::vector<float> expected = answer_of(model, model), found = answer_of(again, model);
    EXPECT_EQ(found.size(), expected.size());
    if (found.size() != expected.size()) continue;
    float largest = 0;
    for (const float value : expected) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 1e-5 * largest) << i;
  }
}

TEST(TfliteExport, WhatTheFormatHasNothingForIsNamed) {
  for (const auto& [name, model] : exported_layers()) {
    if (!kRefusedTypes.contains(type_of(name))) continue;
    try {
      (void)bytes_of(model);
      ADD_FAILURE() << name << " was written";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kUnimplemented);
      EXPECT_THAT(e.what(), HasSubstr("\"some.layer")) << name;
    }
  }
}

}  // namespace
}  // namespace moil::tflite::test
