// Networks that PyTorch exported to ONNX, imported and computed: logits and every gradient against
// PyTorch's own, and export and import again.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "engine/device/conv/kernel_selector.h"
#include "engine/io/onnx/onnx_reader.h"
#include "engine/io/safetensors.h"
#include "engine/layers/weight_order.h"
#include "engine/model/preparation.h"
#include "engine/run/network.h"
#include "engine/train/trainer.h"
#include "tests/engine/io/onnx/exported.h"
#include "tests/parity/cases.h"

namespace moil::test {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = MOIL_ONNX_CASES;

const std::string kModels[] = {"alexnet",
                               "batch_second",
                               "densenet121",
                               "efficientnet_lite0",
                               "maxvit",
                               "mobilenet_v1",
                               "mobilenet_v2",
                               "mobilenet_v3_large",
                               "mobilenet_v3_small",
                               "odd_operators",
                               "resnet18",
                               "resnet50",
                               "squeezenet1_1",
                               "swin",
                               "tags",
                               "vgg16",
                               "vit_tiny",
                               "window_products"};

onnx::ImportedModel import(const std::string& file) {
  return onnx::import_onnx(onnx::read_onnx(kFolder / (file + ".onnx")));
}

// The kernels that measuring may choose are compared by their own tests.
KernelSelector first_kernels() {
  KernelSelector::Options options;
  options.measure = false;
  return KernelSelector(options);
}

// The largest difference against the largest expected value.
double distance(const std::vector<float>& actual, const std::vector<float>& expected) {
  double most = 0, difference = 0;
  EXPECT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
    most = std::max(most, std::abs(static_cast<double>(expected[i])));
    difference = std::max(difference, std::abs(static_cast<double>(actual[i] - expected[i])));
  }
  return difference / std::max(most, 1e-30);
}

// Gradients in file order, by "LAYER.WEIGHT".
class Gradients final : public WeightUpdater {
 public:
  explicit Gradients(const Graph& graph) {
    for (const Node& node : graph.nodes)
      for (const WeightSpec& spec : node.weights) specs_[weight_name(node, spec)] = &spec;
  }
  void gradient_ready(const WeightUpdate&) override {}
  void all_gradients_ready() override {}
  void apply(const WeightUpdate& update) override {
    auto& values = found[std::string(update.name)];
    values.resize(static_cast<std::size_t>(update.elements));
    to_file_order(*specs_.at(std::string(update.name)), update.gradient, values.data());
  }
  std::map<std::string, std::vector<float>> found;

 private:
  std::map<std::string, const WeightSpec*> specs_;
};

// All weights are trained, but batch norms keep their statistics: a model whose norms are frozen
// trains no gamma, so theirs are compared only through what passes back through them.
std::map<std::string, std::vector<float>> gradients_of(const onnx::ImportedModel& model,
                                                       const WeightMap& expected) {
  std::set<std::string> layers;
  for (const LayerDescription& layer : model.description.layers)
    if (layer.type != "batch_norm") layers.insert(layer.name);
  NetworkOptions options{.batch = expected.at("image").dims[0], .plan = {}};
  options.plan.training = true;
  options.plan.trainable = trainable_weights(model.description, &layers);
  KernelSelector kernels = first_kernels();
  Network network(prepare_training(model.description, "softmax_cross_entropy", layers), options,
                  kernels);
  network.allocate();
  network.load(model.weights);
  const NamedTensor& file = expected.at("image");
  const auto image = in_memory_order({Dims(file.dims), file.data});
  std::copy(image.begin(), image.end(), network.input(0));
  const auto& target = expected.at("target").data;
  std::copy(target.begin(), target.end(), network.input(1));
  Gradients gradients(network.graph());
  network.train_step(0, &gradients);
  EXPECT_NEAR(network.output(0)[0], expected.at("loss").data[0], 1e-4);
  return gradients.found;
}

class OnnxParity : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!fs::exists(kFolder / (GetParam() + ".safetensors")))
      GTEST_SKIP()
          << "no cases: PyTorch or torchvision is not installed, or the test onnx_cases has "
             "not run (ctest runs it first)";
  }
};

TEST_P(OnnxParity, LogitsAreAsPyTorchComputesThem) {
  const WeightMap expected = read_safetensors(kFolder / (GetParam() + ".safetensors")).tensors;
  for (const std::string form : {"", "-folded"}) {
    const onnx::ImportedModel model = import(GetParam() + form);
    const auto logits = computed(model.description, model.weights, expected.at("image")).values;
    EXPECT_LE(distance(logits, expected.at("logits").data), 1e-4) << GetParam() << form;
  }
}

TEST_P(OnnxParity, GradientsAreAsPyTorchComputesThem) {
  const WeightMap expected = read_safetensors(kFolder / (GetParam() + ".safetensors")).tensors;
  const auto gradients = gradients_of(import(GetParam()), expected);
  std::size_t compared = 0;
  for (const auto& [name, values] : gradients) {
    const auto it = expected.find("gradient/" + name);
    ASSERT_NE(it, expected.end()) << name;
    EXPECT_LE(distance(values, it->second.data), 1e-3) << name;
    ++compared;
  }
  EXPECT_GE(compared, 4U);
}

TEST_P(OnnxParity, ExportedAndImportedAgainIsTheSame) {
  for (const std::string form : {"", "-folded"}) onnx::expect_fixed(import(GetParam() + form));
}

// Rows of numbers, whole ones if they are words', and one-hot targets, in their order.
class RowSource : public BatchSource {
 public:
  RowSource(const WeightMap& expected, bool words)
      : numbers_(expected.at("numbers")), targets_(expected.at("target")), words_(words) {}
  std::int64_t size() const override { return numbers_.dims[0]; }
  void read(std::span<const std::int64_t> samples, const Batch& batch) override {
    for (std::size_t s = 0; s < samples.size(); ++s) {
      const auto row = [&](const NamedTensor& t) {
        return t.data.begin() + samples[s] * size_of(t);
      };
      std::transform(row(numbers_), row(numbers_) + size_of(numbers_), batch.inputs[0].row(s),
                     [this](float x) {
                       return words_ ? std::bit_cast<float>(static_cast<std::int32_t>(x)) : x;
                     });
      std::copy_n(row(targets_), targets_.dims[1], batch.targets[0].row(s));
    }
  }

 private:
  static std::int64_t size_of(const NamedTensor& t) {
    return static_cast<std::int64_t>(t.data.size()) / t.dims[0];
  }
  const NamedTensor &numbers_, &targets_;
  const bool words_;
};

// Trained on the samples in their order, as PyTorch trained: the same losses. What came out of it.
WeightMap trained_as_expected(const onnx::ImportedModel& model, const WeightMap& expected,
                              bool words) {
  TrainerConfig config;
  config.optimizer.learning_rate = 0.2;
  config.optimizer.momentum = 0.9;
  config.batch = 6;
  KernelSelector kernels = first_kernels();
  Trainer trainer(model.description, nullptr, config, kernels);
  trainer.allocate(model.weights);
  RowSource source(expected, words);
  std::vector<float> losses;
  Trainer::Callbacks callbacks;
  callbacks.order = [&](std::int64_t) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(source.size()));
    std::iota(order.begin(), order.end(), 0);
    return order;
  };
  callbacks.on_step = [&](std::int64_t, std::int64_t, double loss) {
    losses.push_back(static_cast<float>(loss));
    return true;
  };
  EXPECT_TRUE(trainer.run(source, callbacks));
  EXPECT_LE(distance(losses, expected.at("losses").data), 1e-4);
  WeightMap end;
  trainer.network().save(end);
  return end;
}

constexpr const char* kNoCases =
    "no cases: PyTorch is not installed, or the test onnx_cases has not run (ctest runs it first)";

// A recurrent cell unrolled over five words, whose table also gives the logits.
TEST(OnnxParityOfTies, TiedWeightsTrainAsInPyTorch) {
  if (!fs::exists(kFolder / "tied.safetensors")) GTEST_SKIP() << kNoCases;
  const WeightMap expected = read_safetensors(kFolder / "tied.safetensors").tensors;
  const onnx::ImportedModel model = import("tied");
  EXPECT_EQ(model.weights.size(), 4U);  // the table, the cell's two matrices and its bias
  const WeightMap end = trained_as_expected(model, expected, /*words=*/true);
  ASSERT_EQ(end.size(), 4U);
  for (const auto& [name, tensor] : end) {
    ASSERT_TRUE(expected.contains("end/" + name)) << name;
    EXPECT_LE(distance(tensor.data, expected.at("end/" + name).data), 1e-4) << name;
  }
  onnx::expect_fixed(model);
}

// LSTM, GRU and RNN as PyTorch exports them, with a batch of any size and of one.
TEST(OnnxParityOfRecurrent, LayersTrainAsInPyTorch) {
  if (!fs::exists(kFolder / "recurrent.safetensors")) GTEST_SKIP() << kNoCases;
  const WeightMap expected = read_safetensors(kFolder / "recurrent.safetensors").tensors;
  for (const char* name : {"recurrent", "recurrent_fixed"}) {
    SCOPED_TRACE(name);
    const onnx::ImportedModel model = import(name);
    onnx::expect_fixed(model);
    std::map<std::string, int> count;
    for (const LayerDescription& layer : model.description.layers) ++count[layer.type];
    EXPECT_EQ(count["lstm"], 5);  // two layers in two directions each, and the last
    EXPECT_EQ(count["gru"], 1);
    EXPECT_EQ(count["rnn"], 1);
    const NamedTensor& rows = expected.at("numbers");
    const Computed logits = computed(model.description, model.weights, rows);
    EXPECT_LE(distance(logits.values, expected.at("logits").data), 1e-4);
    (void)trained_as_expected(model, expected, /*words=*/false);
    // As cells, too.
    onnx::ImportedModel cells = model;
    for (LayerDescription& layer : cells.description.layers)
      if (layer.type == "lstm" || layer.type == "gru" || layer.type == "rnn")
        layer.properties["unroll"] = true;
    cells.description = complete_model(cells.description);
    (void)trained_as_expected(cells, expected, /*words=*/false);
    const onnx::ImportedModel again =
        onnx::import_onnx(onnx::export_onnx(cells.description, cells.weights));
    const Computed same = computed(again.description, again.weights, rows);
    EXPECT_LE(distance(same.values, expected.at("logits").data), 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, OnnxParity, ::testing::ValuesIn(kModels),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace moil::test
