#include "engine/elastic/timing_profiler.h"

#include <gtest/gtest.h>

#include "engine/elastic/predicted_step.h"
#include "tests/engine/elastic/profiled.h"

namespace moil {
namespace {

using testing::Profiled;

TEST(TimingProfiler, NamesEveryLayerAndWeight) {
  const Profiled p(testing::chain_model());
  ASSERT_EQ(p.profile.layers.size(), p.graph.nodes.size());
  std::set<std::string> names;
  for (std::size_t i = 0; i < p.graph.nodes.size(); ++i) {
    const LayerTiming& layer = p.profile.layers[i];
    EXPECT_EQ(layer.layer, p.graph.nodes[i].name);
    for (const WeightTiming& w : layer.weights) {
      names.insert(w.name);
      EXPECT_GT(w.gradient, 0) << w.name;
      EXPECT_GT(w.apply, 0) << w.name;
    }
  }
  EXPECT_EQ(names, p.all());
  EXPECT_GT(p.profile.forward, 0);
  EXPECT_GT(p.profile.step, p.profile.forward);
}

TEST(TimingProfiler, FrozenLayersCostNoUpdate) {
  const std::set<std::string> layers = {"fully_connected0"};
  const Profiled p(testing::chain_model(), &layers);
  for (const LayerTiming& layer : p.profile.layers) {
    if (layer.layer == "fully_connected0") continue;
    EXPECT_TRUE(layer.weights.empty()) << layer.layer;
    EXPECT_FALSE(layer.layer == "conv2d0" && layer.derivative > 0);  // nothing before it learns
  }
}

void expect_rising(const std::vector<BackwardTiming>& backward) {
  double before = 0;
  for (const BackwardTiming& pass : backward) {
    EXPECT_GT(pass.factor, 0);
    EXPECT_GT(pass.share, std::exchange(before, pass.share));
  }
}

// Each made of more layers than the one before, the last of all: it takes what was measured.
TEST(TimingProfiler, BackwardPassesEndWithEverything) {
  const Profiled p(testing::residual_model());
  ASSERT_GE(p.profile.backward.size(), 2U);
  expect_rising(p.profile.backward);
  expect_rising(p.profile.kernelless_backward);
  EXPECT_NEAR(p.profile.backward.back().share, 1, 1e-9);
  // But for the forward pass, whose layers are told by their own medians: of steps that take
  // microseconds these may be far from what it takes.
  const double predicted = predicted_step(p.profile, p.graph, p.all());
  EXPECT_LT(predicted - p.profile.forward, p.profile.step);
  EXPECT_NEAR(predicted, p.profile.step, p.profile.forward);
}

// One layer that learns is the first and the last, with all weights and with one.
TEST(TimingProfiler, OfOneLayerTakesPartsOfAStepOfEverything) {
  const std::set<std::string> layers = {"fully_connected0"};
  const Profiled p(testing::chain_model(), &layers);
  EXPECT_GT(p.profile.step, p.profile.forward);
  EXPECT_GT(p.profile.besides, 0);
  EXPECT_LT(p.profile.besides, p.profile.step);
  EXPECT_DOUBLE_EQ(p.profile.fixed_seconds(), p.profile.forward + p.profile.besides);
}

std::vector<double> forward_seconds(const TimingProfile& profile) {
  std::vector<double> seconds;
  for (const LayerTiming& layer : profile.layers) seconds.push_back(layer.forward);
  return seconds;
}

TEST(TimingProfiler, EveryRoundCounts) {
  const ModelDescription model = testing::residual_model();
  const WeightMap weights = testing::random_weights(model, 1);
  const TrainerConfig config = testing::profiled_config();
  KernelSelector kernels = testing::fixed_kernels();
  TimingProfiler profiler(model, nullptr, config, weights, kernels);
  profiler.measure_round(1);
  const std::vector<double> first = forward_seconds(profiler.profile());
  EXPECT_EQ(forward_seconds(profiler.profile()), first);
  profiler.measure_round(2);
  const std::vector<double> both = forward_seconds(profiler.profile());
  EXPECT_EQ(both.size(), first.size());
  EXPECT_NE(both, first);
  for (const double seconds : both) EXPECT_GE(seconds, 0);
}

}  // namespace
}  // namespace moil
