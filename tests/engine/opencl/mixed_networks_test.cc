// Networks whose steps run on CPU and OpenCL device in any mix, against the CPU alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "engine/model/preparation.h"
#include "engine/plan/selection_problem.h"
#include "tests/engine/model/models.h"
#include "tests/engine/opencl/opencl_device.h"

namespace moil {
namespace {

using namespace moil::test;

constexpr std::int64_t kMixedBatch = 4;

NetworkOptions training_options(const ModelDescription& prepared, bool clips = false) {
  NetworkOptions options{.batch = kMixedBatch, .plan = {}};
  options.plan.training = true;
  options.plan.optimizer_states = 1;
  options.plan.clip_by_global_norm = clips;
  for (const Node& node : build_graph(prepared, kMixedBatch).nodes)
    for (const WeightSpec& weight : node.weights)
      if (weight.trainable) options.plan.trainable.insert(weight_name(node, weight));
  return options;
}

Assignment everything(const ModelDescription& prepared) {
  return everything_elsewhere(build_graph(prepared, kMixedBatch));
}

Assignment any_mix(const ModelDescription& prepared, unsigned seed) {
  std::mt19937 random(seed);
  Assignment assignment = everything(prepared);
  for (auto& [layer, steps] : assignment)
    for (bool& step : steps) step = random() % 2 == 0;
  return assignment;
}

double largest(const std::vector<float>& values) {
  double most = 0;
  for (const float v : values) most = std::max(most, std::abs(double{v}));
  return most;
}

double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double error = 0;
  for (std::size_t i = 0; i < b.size(); ++i)
    error = std::max(error, std::isfinite(a[i]) ? std::abs(double{a[i]} - double{b[i]}) : 1e9);
  return error;
}

// What rounding does to a run: the same one from weights that differ in their last bits.
TrainingRun rounded_run(const ModelDescription& prepared, const NetworkOptions& options,
                        WeightMap weights, int steps) {
  unsigned salt = 0;
  for (auto& [name, tensor] : weights) {
    const auto noise = random_values(static_cast<std::int64_t>(tensor.data.size()), 900 + ++salt);
    for (std::size_t i = 0; i < noise.size(); ++i) tensor.data[i] *= 1 + 2e-7F * noise[i];
  }
  return train(prepared, options, weights, steps);
}

// Within 1e-4 of the largest value of the tensor, or of a tenth of its kind's (a bias before a
// batch norm has no gradient but rounding), or what rounding alone does (a batch norm of a channel
// that hardly varies enlarges it).
void expect_same(const TrainingRun& found, const TrainingRun& expected, const TrainingRun& rounded,
                 const std::string& what) {
  EXPECT_LT(difference(found.losses, expected.losses), 1e-4 * largest(expected.losses)) << what;
  double most[2] = {0, 0};
  const auto is_state = [](const std::string& name) { return name.find("/state") < name.size(); };
  for (const auto& [name, values] : expected.tensors)
    most[is_state(name)] = std::max(most[is_state(name)], largest(values));
  for (const auto& [name, values] : expected.tensors)
    EXPECT_LT(difference(found.tensors.at(name), values),
              std::max(1e-4 * std::max(largest(values), 0.1 * most[is_state(name)]),
                       10 * difference(rounded.tensors.at(name), values)))
        << what << ": " << name;
}

TEST(OpenclNetworks, AllOnTheDeviceIsAsOnTheCpu) {
  const OpenclDevice device = opencl_device();
  MOIL_NEEDS_OPENCL(device);
  for (const ModelDescription& model : {chain_model(), residual_model()}) {
    const ModelDescription prepared = test::prepared(model);
    const WeightMap weights = random_weights(prepared, 3);
    NetworkOptions options = training_options(prepared);
    const TrainingRun expected = train(prepared, options, weights, 3);
    const TrainingRun rounded = rounded_run(prepared, options, weights, 3);
    options.plan.processor = device.processor;
    options.plan.assignment = everything(prepared);
    expect_same(train(prepared, options, weights, 3), expected, rounded, "all");
  }
}

// Random networks with a random mix each; `change` sees the options of the run that is mixed.
void expect_mixes_as_on_the_cpu(
    const OpenclDevice& device, unsigned seeds,
    const std::function<void(unsigned seed, NetworkOptions&)>& change = {}) {
  for (unsigned seed = 0; seed < seeds; ++seed) {
    const ModelDescription prepared = test::prepared(random_model(seed));
    const WeightMap weights = random_weights(prepared, seed);
    NetworkOptions options = training_options(prepared, seed % 5 == 0);
    const TrainingRun expected = train(prepared, options, weights, 2);
    const TrainingRun rounded = rounded_run(prepared, options, weights, 2);
    options.plan.processor = device.processor;
    options.plan.assignment = any_mix(prepared, seed);
    if (change) change(seed, options);
    expect_same(train(prepared, options, weights, 2), expected, rounded,
                "seed " + std::to_string(seed));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(OpenclNetworks, AnyMixIsAsOnTheCpu) {
  const OpenclDevice device = opencl_device();
  MOIL_NEEDS_OPENCL(device);
  expect_mixes_as_on_the_cpu(device, 200);
}

TEST(OpenclNetworks, CopiesBetweenMemoriesAreAsSharedMemory) {
  const OpenclDevice device = opencl_device({.share_memory = false});
  MOIL_NEEDS_OPENCL(device);
  expect_mixes_as_on_the_cpu(device, 40);
}

// Tensors go to the swap file and come back between the steps of either processor.
TEST(OpenclNetworks, SwapGoesOnBesideTheDevice) {
  const OpenclDevice device = opencl_device();
  MOIL_NEEDS_OPENCL(device);
  expect_mixes_as_on_the_cpu(device, 30, [](unsigned seed, NetworkOptions& options) {
    options.swap_folder = ::testing::TempDir();
    options.plan.swap.mode = seed % 2 ? SwapMode::kOnDemand : SwapMode::kProactive;
    options.plan.swap.smallest_bytes = 1;
  });
}

TEST(OpenclNetworks, InferenceIsAsOnTheCpu) {
  for (const bool shares : {true, false}) {
    const OpenclDevice device = opencl_device({.share_memory = shares});
    MOIL_NEEDS_OPENCL(device);
    for (unsigned seed = 0; seed < 40; ++seed) {
      ModelDescription model = random_model(seed);
      WeightMap weights = random_weights(model, seed);
      if (seed % 2 == 0) model = prepare_inference(model, weights);
      NetworkOptions options{.batch = kMixedBatch, .plan = {}};
      const auto answer = [&] {
        KernelSelector kernels = fixed_kernels();
        Network network(model, options, kernels);
        network.allocate();
        network.load(weights);
        const auto input = random_values(network.input_info(0).dims.elements(), seed);
        std::copy(input.begin(), input.end(), network.input(0));
        network.forward();
        return std::vector<float>(network.output(0),
                                  network.output(0) + network.output_info(0).dims.elements());
      };
      const std::vector<float> expected = answer();
      options.plan.processor = device.processor;
      options.plan.assignment = any_mix(model, seed);
      EXPECT_LT(difference(answer(), expected), 1e-4 * largest(expected)) << "seed " << seed;
    }
  }
}

TEST(OpenclNetworks, TwoRunsHaveTheSameBits) {
  const OpenclDevice device = opencl_device();
  MOIL_NEEDS_OPENCL(device);
  const ModelDescription prepared = test::prepared(residual_model());
  const WeightMap weights = random_weights(prepared, 3);
  NetworkOptions options = training_options(prepared);
  options.plan.processor = device.processor;
  options.plan.assignment = any_mix(prepared, 7);
  EXPECT_EQ(train(prepared, options, weights, 3), train(prepared, options, weights, 3));
}

}  // namespace
}  // namespace moil
