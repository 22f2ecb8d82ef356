// Networks whose steps run on CPU and OpenCL device in any mix, against the CPU alone.
#include "tests/engine/device/mixed_networks.h"

#include <gtest/gtest.h>

#include "engine/model/preparation.h"
#include "tests/engine/opencl/opencl_device.h"

namespace moil {
namespace {

using namespace moil::test;

TEST(OpenclNetworks, AllOnTheDeviceIsAsOnTheCpu) {
  const OpenclDevice device = opencl_device();
  MOIL_NEEDS_OPENCL(device);
  for (const ModelDescription& model : {chain_model(), residual_model()}) {
    const ModelDescription prepared = test::prepared(model);
    const WeightMap weights = random_weights(prepared, 3);
    NetworkOptions options = mixed_options(prepared);
    const TrainingRun expected = train(prepared, options, weights, 3);
    const TrainingRun rounded = rounded_run(prepared, options, weights, 3);
    options.plan.processors = {device.processor};
    options.plan.assignment = everything_on(kSecondProcessor, build_graph(prepared, kMixedBatch));
    expect_same(train(prepared, options, weights, 3), expected, rounded, "all");
  }
}

TEST(OpenclNetworks, AnyMixIsAsOnTheCpu) {
  const OpenclDevice device = opencl_device();
  MOIL_NEEDS_OPENCL(device);
  expect_mixes_as_on_the_cpu({device.processor}, 200);
}

TEST(OpenclNetworks, CopiesBetweenMemoriesAreAsSharedMemory) {
  const OpenclDevice device = opencl_device({.share_memory = false});
  MOIL_NEEDS_OPENCL(device);
  expect_mixes_as_on_the_cpu({device.processor}, 40);
}

// Tensors go to the swap file and come back between the steps of either processor.
TEST(OpenclNetworks, SwapGoesOnBesideTheDevice) {
  const OpenclDevice device = opencl_device();
  MOIL_NEEDS_OPENCL(device);
  expect_mixes_as_on_the_cpu({device.processor}, 30, [](unsigned seed, NetworkOptions& options) {
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
      options.plan.processors = {device.processor};
      options.plan.assignment = any_mix(model, seed, 1);
      EXPECT_LT(difference(answer(), expected), 1e-4 * largest(expected)) << "seed " << seed;
    }
  }
}

TEST(OpenclNetworks, TwoRunsHaveTheSameBits) {
  const OpenclDevice device = opencl_device();
  MOIL_NEEDS_OPENCL(device);
  const ModelDescription prepared = test::prepared(residual_model());
  const WeightMap weights = random_weights(prepared, 3);
  NetworkOptions options = mixed_options(prepared);
  options.plan.processors = {device.processor};
  options.plan.assignment = any_mix(prepared, 7, 1);
  EXPECT_EQ(train(prepared, options, weights, 3), train(prepared, options, weights, 3));
}

}  // namespace
}  // namespace moil
