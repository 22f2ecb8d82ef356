// Every step of every layer shape of the networks in config/models, and of corner cases, against
// the CPU: activations through the loss, gradients of the layer, and its input's derivative through
// the gradients of a layer before it, which the CPU computes in both runs.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "engine/io/model_json.h"
#include "engine/model/preparation.h"
#include "tests/engine/model/models.h"
#include "tests/engine/opencl/opencl_device.h"

namespace moil {
namespace {

using namespace moil::test;

constexpr std::int64_t kBatch = 2;

struct LayerCase {
  std::string type;
  Properties properties;
  std::vector<std::int64_t> dims;  // of its inputs, without the batch
  std::size_t inputs = 1;

  std::string to_string() const {
    std::string text = type;
    for (const auto d : dims) text += " " + std::to_string(d);
    LayerDescription layer{"layer", type, {}, properties};
    ModelDescription model;
    model.layers.push_back(layer);
    return text + " " + format_model(model);
  }
};

ModelDescription model_of(const LayerCase& c) {
  ModelBuilder builder(c.dims);
  const auto front = [&] {
    builder.go_back("input");
    if (c.dims.size() == 3) return builder.conv(c.dims[0], 3, 1, c.dims[0]).last();
    return builder.norm().last();
  };
  std::vector<std::string> from;
  for (std::size_t i = 0; i < c.inputs; ++i) from.push_back(front());
  builder.layer(c.type, c.properties, from, "tested");
  return prepare_training(builder.model(), "mse",
                          {"conv2d0", "conv2d1", "batch_norm0", "batch_norm1", "tested"});
}

struct Outcome {
  float loss = 0;
  std::map<std::string, std::vector<float>> gradients;
};

// target: what the network is held against, if it is not drawn.
Outcome outcome_of(const ModelDescription& model, const std::shared_ptr<Processor>& processor,
                   const std::string& tested = "tested", const std::vector<float>& target = {}) {
  NetworkOptions options;
  options.batch = kBatch;
  options.plan.training = true;
  if (processor) {
    options.plan.processors = {processor};
    options.plan.assignment[tested] = {kSecondProcessor, kSecondProcessor, kSecondProcessor, kCpu};
  }
  for (const Node& node : build_graph(model, kBatch).nodes)
    for (const WeightSpec& weight : node.weights)
      if (weight.trainable) options.plan.trainable.insert(weight_name(node, weight));
  KernelSelector kernels = fixed_kernels();
  Network network(model, options, kernels);
  network.allocate();
  network.load(random_weights(model, 5));
  for (std::size_t i = 0; i < 2; ++i) {
    const auto values = random_values(network.input_info(i).dims.elements(), 11 + unsigned(i));
    std::copy(values.begin(), values.end(), network.input(i));
  }
  std::ranges::copy(target, network.input(1));
  GradientRecorder recorder;
  network.train_step(1, &recorder);
  return {network.output(0)[0], recorder.gradients};
}

void expect_agreement(const Outcome& found, const Outcome& expected) {
  EXPECT_NEAR(found.loss, expected.loss, 1e-4 * std::abs(expected.loss));
  ASSERT_FALSE(expected.gradients.empty());
  // A bias before a batch norm has no gradient but rounding: it is measured by all the others'.
  double most_of_all = 0;
  for (const auto& [name, values] : expected.gradients)
    for (const float v : values) most_of_all = std::max(most_of_all, std::abs(double{v}));
  for (const auto& [name, values] : expected.gradients) {
    double most = 0.1 * most_of_all, error = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      most = std::max(most, std::abs(double{values[i]}));
      error = std::max(error, std::abs(double{found.gradients.at(name)[i]} - double{values[i]}));
    }
    EXPECT_LE(error, 1e-4 * most) << name;
  }
}

void expect_agreement(const LayerCase& c, const std::shared_ptr<Processor>& processor) {
  SCOPED_TRACE(c.to_string());
  const ModelDescription model = model_of(c);
  expect_agreement(outcome_of(model, processor), outcome_of(model, nullptr));
}

const std::set<std::string> kTypes = {"add",
                                      "average_pool",
                                      "batch_norm",
                                      "conv2d",
                                      "fully_connected",
                                      "elu",
                                      "gelu",
                                      "gelu_tanh",
                                      "mish",
                                      "softplus",
                                      "global_average_pool",
                                      "hard_sigmoid",
                                      "hard_swish",
                                      "leaky_relu",
                                      "log_softmax",
                                      "max_pool",
                                      "relu",
                                      "relu6",
                                      "sigmoid",
                                      "silu",
                                      "softmax",
                                      "tanh"};

std::vector<LayerCase> cases_of(const ModelDescription& model, std::set<std::string>& seen) {
  std::vector<LayerCase> cases;
  const ModelDescription complete = complete_model(model);
  const Graph graph = build_graph(complete, kBatch);
  for (const Node& node : graph.nodes) {
    if (!kTypes.contains(node.type)) continue;
    const auto description =
        std::find_if(complete.layers.begin(), complete.layers.end(),
                     [&](const LayerDescription& layer) { return layer.name == node.name; });
    const Dims dims = graph.input_infos(node)[0].dims;
    LayerCase c{node.type, description->properties, {}, node.inputs.size()};
    c.dims.assign(dims.values().begin() + 1, dims.values().end());
    if (seen.insert(c.to_string()).second) cases.push_back(c);
  }
  return cases;
}

class OpenclZoo : public ::testing::TestWithParam<std::string> {};

TEST_P(OpenclZoo, EveryLayerAgreesWithTheCpu) {
  const OpenclDevice device = opencl_device();
  MOIL_NEEDS_OPENCL(device);
  std::set<std::string> seen;
  const auto path = std::filesystem::path(MOIL_SOURCE_DIR) / "config/models" / GetParam();
  const std::vector<LayerCase> cases = cases_of(read_model(path), seen);
  EXPECT_FALSE(cases.empty());
  for (const LayerCase& c : cases) expect_agreement(c, device.processor);
}

INSTANTIATE_TEST_SUITE_P(Models, OpenclZoo,
                         ::testing::Values("resnet18-sound.json", "mobilenet_v2.json",
                                           "lenet5.json", "cifar-resnet20.json"),
                         [](const auto& model) {
                           std::string name = model.param.substr(0, model.param.find('.'));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(OpenclLayers, CornersOfEveryTypeAgreeWithTheCpu) {
  const OpenclDevice device = opencl_device();
  MOIL_NEEDS_OPENCL(device);
  using L = std::vector<std::int64_t>;
  const std::int64_t two = 2, three = 3, four = 4;
  std::vector<LayerCase> cases = {
      {"conv2d",
       {{"out_channels", std::int64_t{6}}, {"kernel", three}, {"groups", two}},
       {4, 7, 5}},
      {"conv2d",
       {{"out_channels", std::int64_t{5}},
        {"kernel", L{1, 3}},
        {"stride", L{2, 1}},
        {"padding", L{0, 1, 2, 3}},
        {"dilation", L{1, 2}}},
       {3, 9, 8}},
      {"conv2d",
       {{"out_channels", four},
        {"kernel", L{2, 3}},
        {"groups", four},
        {"bias", false},
        {"stride", two},
        {"padding", L{1, 2}}},
       {4, 6, 9}},
      {"conv1d",
       {{"out_channels", std::int64_t{6}},
        {"kernel", three},
        {"groups", two},
        {"dilation", two},
        {"padding", L{4, 0}}},
       {9, 4}},
      {"max_pool", {{"kernel", three}, {"stride", two}, {"padding", L{1, 1}}}, {3, 8, 7}},
      {"max_pool", {{"kernel", two}, {"dilation", two}}, {3, 8, 7}},
      {"max_pool", {{"kernel", std::int64_t{17}}, {"stride", std::int64_t{1}}}, {2, 20, 19}},
      {"average_pool", {{"kernel", three}, {"stride", two}, {"padding", L{1, 1}}}, {3, 8, 7}},
      {"average_pool",
       {{"kernel", three},
        {"stride", two},
        {"padding", L{1, 1}},
        {"count_include_pad", false},
        {"ceil_mode", true}},
       {3, 8, 8}},
      {"fully_connected", {{"units", std::int64_t{7}}, {"bias", false}}, {13}},
      {"add", {}, {5}, 3},
      {"batch_norm", {}, {9}},
      {"batch_norm", {{"frozen", true}}, {4, 5, 3}},
  };
  for (const char* type :
       {"relu", "relu6", "leaky_relu", "sigmoid", "tanh", "hard_sigmoid", "hard_swish", "silu",
        "gelu", "elu", "softplus", "mish", "gelu_tanh", "softmax", "log_softmax"})
    cases.push_back({type, {}, {11}});
  for (const LayerCase& c : cases) expect_agreement(c, device.processor);
}

// Of a target that is known, in part, of a row, and not at all.
TEST(OpenclLayers, LossesAgreeWithTheCpu) {
  const OpenclDevice device = opencl_device();
  MOIL_NEEDS_OPENCL(device);
  constexpr std::int64_t kOutputs = 7;
  ModelBuilder builder({5});
  builder.norm().fc(kOutputs);
  const std::vector<float> known = random_values(kBatch * kOutputs, 3);
  std::vector<float> some = known, row = known;
  for (std::size_t i = 0; i < some.size(); i += 2) some[i] = NAN;
  std::fill_n(row.begin(), kOutputs, NAN);
  std::vector<float> zeros = some;
  for (float& x : zeros) x *= 0;
  for (const char* type : {"softmax_cross_entropy", "sigmoid_cross_entropy", "mse", "huber"}) {
    const ModelDescription model =
        prepare_training(builder.model(), type, {"batch_norm0", "fully_connected0"});
    for (const auto& target : {known, some, row, zeros}) {
      SCOPED_TRACE(type);
      expect_agreement(outcome_of(model, device.processor, "loss", target),
                       outcome_of(model, nullptr, "loss", target));
    }
  }
}

}  // namespace
}  // namespace moil
