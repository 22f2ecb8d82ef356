#include "engine/elastic/timing_profiler.h"

#include <gtest/gtest.h>

#include "tests/engine/elastic/profiled.h"

namespace moil {
namespace {

using test::Profiled;

TEST(TimingProfiler, NamesEveryLayerAndWeight) {
  const Profiled p(test::chain_model());
  ASSERT_EQ(p.profile.layers.size(), p.graph.nodes.size());
  std::set<std::string> names;
  for (std::size_t i = 0; i < p.graph.nodes.size(); ++i) {
    const LayerTiming& layer = p.profile.layers[i];
    EXPECT_EQ(layer.layer, p.graph.nodes[i].name);
    for (const WeightTiming& w : layer.weights) {
      names.insert(w.name);
      EXPECT_GT(w.update, 0) << w.name;
    }
  }
  EXPECT_EQ(names, p.all());
  EXPECT_GT(p.profile.forward, 0);
  EXPECT_GT(p.profile.step, p.profile.forward);
}

TEST(TimingProfiler, FrozenLayersCostNoUpdate) {
  const std::set<std::string> layers = {"fully_connected0"};
  const Profiled p(test::chain_model(), &layers);
  for (const LayerTiming& layer : p.profile.layers) {
    if (layer.layer == "fully_connected0") continue;
    EXPECT_TRUE(layer.weights.empty()) << layer.layer;
    EXPECT_FALSE(layer.layer == "conv2d0" && layer.pass > 0);  // nothing before it learns
  }
}

// The parts are medians of their own: together they are the step's, but for what disturbed some.
// What no layer takes is besides, and is nothing if they make more than the step.
void expect_parts_of_the_step(const Profiled& p) {
  const double parts = predicted_step(p.profile, p.graph, p.all());
  EXPECT_GE(p.profile.besides, 0);
  EXPECT_LT(p.profile.besides, p.profile.step);
  EXPECT_GE(parts, 0.999 * p.profile.step);
  EXPECT_LE(parts, 2 * p.profile.step);
}

TEST(TimingProfiler, ThePartsAreTheWholeStep) {
  expect_parts_of_the_step(Profiled(test::residual_model()));
}

// One layer that learns is the first and the last, with all weights and with one.
TEST(TimingProfiler, ThePartsAreTheWholeStepOfOneLayer) {
  const std::set<std::string> layers = {"fully_connected0"};
  const Profiled p(test::chain_model(), &layers);
  EXPECT_GT(p.profile.step, p.profile.forward);
  EXPECT_DOUBLE_EQ(p.profile.fixed_seconds(), p.profile.forward + p.profile.besides);
  expect_parts_of_the_step(p);
}

}  // namespace
}  // namespace moil
