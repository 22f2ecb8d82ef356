#include "engine/elastic/timing_profiler.h"

#include <gtest/gtest.h>

#include "engine/elastic/predicted_step.h"
#include "tests/engine/elastic/elastic_case.h"
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

// So that it takes what was measured, however much was disturbed.
TEST(TimingProfiler, BackwardPassesEndWithEverything) {
  const Profiled p(testing::residual_model());
  ASSERT_FALSE(p.profile.backward.empty());
  testing::expect_rising(p.profile.backward);
  testing::expect_rising(p.profile.kernelless_backward);
  EXPECT_NEAR(p.profile.backward.back().share, 1, 1e-9);
  EXPECT_NEAR(predicted_step(p.profile, p.graph, p.all()), p.profile.step, 1e-9 * p.profile.step);
}

// A matrix of 65,536 for eight samples: its update is a good part of the pass.
TEST(TimingProfiler, MeasuresLargeWeightsAlone) {
  const Profiled p(testing::ModelBuilder({256}).fc(256).layer("tanh").fc(3).model());
  const WeightTiming& large = p.layer("fully_connected0").weights.front();
  EXPECT_TRUE(large.is_large()) << large.name;
  EXPECT_GT(large.lone_gradient, 0);
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
