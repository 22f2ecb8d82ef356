#include "tests/engine/run/training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/scratch_folder.h"

namespace moil::test {
namespace {

NetworkOptions stepped_options(const ModelDescription& model, std::int64_t batch, int states,
                               bool clip, bool accumulate) {
  NetworkOptions options = training_options(model, batch);
  options.plan.optimizer_states = states;
  options.plan.clip_by_global_norm = clip;
  if (accumulate) options.plan.micro_batches = 2;
  return options;
}

}  // namespace

Training::Training(const ModelDescription& model, std::int64_t batch, int states, bool clip,
                   bool accumulate)
    : kernels_(own_kernels()),
      network_(prepared(model), stepped_options(model, batch, states, clip, accumulate), kernels_) {
  network_.allocate();
  network_.load(random_weights(model, 1));
}

void Training::fill(unsigned seed) {
  const Dims& target = network_.input_info(1).dims;
  const auto x = random_values(network_.input_info(0).dims.elements(), seed);
  const auto y = one_hot_rows(target[0], target[1], seed + 1);
  std::copy(x.begin(), x.end(), network_.input(0));
  std::copy(y.begin(), y.end(), network_.input(1));
}

double Training::loss(unsigned seed) {
  fill(seed);
  network_.forward(7);
  return network_.output(0)[0];
}

std::map<std::string, std::vector<float>> Training::gradients(unsigned seed) {
  GradientRecorder recorder;
  fill(seed);
  network_.train_step(7, &recorder);
  return recorder.gradients;
}

void expect_same_bits_of_other_plans(const ModelDescription& prepared, NetworkOptions options,
                                     const WeightMap& weights) {
  const ScratchFolder folder;
  options.swap_folder = folder.path();
  const auto expected = train(prepared, options, weights, 3);
  options.plan.share_memory = false;
  EXPECT_TRUE(train(prepared, options, weights, 3) == expected) << "no memory shared";
  options.plan.share_memory = true;
  options.plan.swap.smallest_bytes = 1;
  for (const SwapMode mode : {SwapMode::kOnDemand, SwapMode::kReduced, SwapMode::kProactive}) {
    options.plan.swap.mode = mode;
    EXPECT_TRUE(train(prepared, options, weights, 3) == expected) << to_string(mode);
  }
}

void expect_slopes(const ModelDescription& model, std::size_t weights, double distance,
                   double tolerance, double least) {
  Training t(model);
  const auto gradients = t.gradients(3);
  ASSERT_EQ(gradients.size(), weights);
  for (const PersistentTensor& tensor : t.network().persistent()) {
    if (tensor.kind != TensorKind::kWeight) continue;
    const auto& g = gradients.at(tensor.name);
    double norm = 0;
    for (const float x : g) norm += double(x) * x;
    norm = std::sqrt(norm);
    const auto data = tensor.data().values;
    const std::vector<float> before(data.begin(), data.end());
    const auto loss_at = [&](double step) {
      for (std::size_t i = 0; i < g.size(); ++i)
        data[i] = static_cast<float>(before[i] + step * g[i] / (norm + 1e-30));
      t.network().weights_changed();
      return t.loss(3);
    };
    const double slope = (loss_at(distance) - loss_at(-distance)) / (2 * distance);
    loss_at(0);
    EXPECT_NEAR(slope, norm, tolerance * norm + least) << tensor.name;
  }
}

}  // namespace moil::test
