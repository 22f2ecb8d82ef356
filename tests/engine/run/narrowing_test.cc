// Values that wait for backward in bf16: half their bytes, and gradients that are close.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/io/model_json.h"
#include "tests/engine/model/models.h"
#include "tests/engine/run/training.h"
#include "tests/scratch_folder.h"

namespace moil {
namespace {

struct Gradients {
  std::map<std::string, std::vector<float>> of;
  float loss = 0;
  std::size_t bytes = 0;
};

Gradients gradients_of(const ModelDescription& model, std::int64_t batch, bool narrow) {
  NetworkOptions options = test::training_options(model, batch);
  options.plan.narrow_saved = narrow;
  KernelSelector kernels = test::fixed_kernels();
  Network network(test::prepared(model), options, kernels);
  network.allocate();
  network.load(test::random_weights(model, 1));
  test::fill_inputs(network, 5);
  test::GradientRecorder recorder;
  network.train_step(1, &recorder);
  return {recorder.gradients, network.output(0)[0], network.plan().lower_bound_bytes};
}

double relative_distance(const Gradients& a, const Gradients& b) {
  double difference = 0, norm = 0;
  for (const auto& [name, values] : a.of) {
    const auto& others = b.of.at(name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      difference += std::pow(double{values[i]} - double{others[i]}, 2);
      norm += std::pow(double{values[i]}, 2);
    }
  }
  return std::sqrt(difference / norm);
}

const char* const kModels[] = {"lenet5", "cifar-resnet20", "cifar-mobilenet"};

// Bf16 rounds to a relative 2^-9; no layer makes much more of it.
TEST(NarrowingTest, GradientsAreCloseAndTheForwardPassIsTheSame) {
  for (const char* name : kModels) {
    SCOPED_TRACE(name);
    const ModelDescription model =
        read_model(std::string(MOIL_SOURCE_DIR) + "/config/models/" + name + ".json");
    const Gradients wide = gradients_of(model, 16, false), narrow = gradients_of(model, 16, true);
    EXPECT_EQ(wide.loss, narrow.loss);
    EXPECT_LT(narrow.bytes, wide.bytes);
    const double distance = relative_distance(wide, narrow);
    EXPECT_GT(distance, 0);
    EXPECT_LT(distance, 0.02);
    std::printf("%s: gradients differ by %.2f%%, %.1f of %.1f MiB\n", name, 100 * distance,
                static_cast<double>(narrow.bytes) / (1 << 20),
                static_cast<double>(wide.bytes) / (1 << 20));
  }
}

TEST(NarrowingTest, NeitherSwapNorMakingAgainChangesABit) {
  const test::ScratchFolder folder;
  for (unsigned seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    const ModelDescription model = test::random_model(seed), prepared = test::prepared(model);
    NetworkOptions options = test::training_options(model, 3);
    options.swap_folder = folder.path();
    options.plan.narrow_saved = true;
    const WeightMap weights = test::random_weights(model, seed);
    const auto expected = test::train(prepared, options, weights, 3);
    options.plan.share_memory = false;
    ASSERT_TRUE(test::train(prepared, options, weights, 3) == expected);
    options.plan.share_memory = true;
    options.plan.swap.smallest_bytes = 1;
    for (const SwapMode mode : {SwapMode::kOnDemand, SwapMode::kReduced, SwapMode::kProactive}) {
      options.plan.swap.mode = mode;
      ASSERT_TRUE(test::train(prepared, options, weights, 3) == expected) << to_string(mode);
    }
  }
}

}  // namespace
}  // namespace moil
