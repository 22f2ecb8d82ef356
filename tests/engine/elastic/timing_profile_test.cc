#include "engine/elastic/timing_profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/elastic/backward_time.h"
#include "engine/elastic/predicted_step.h"
#include "tests/engine/elastic/profiled.h"

namespace moil {
namespace {

using testing::Profiled;

std::set<std::string> random_selection(const std::set<std::string>& all, std::mt19937& random) {
  std::set<std::string> selection;
  for (const auto& name : all) {
    if (random() % 3 == 0) selection.insert(name);
  }
  return selection;
}

TEST(TimingProfile, ScalesEverything) {
  const Profiled p(testing::residual_model());
  const TimingProfile twice = scaled(p.profile, 2);
  EXPECT_DOUBLE_EQ(twice.step, 2 * p.profile.step);
  EXPECT_DOUBLE_EQ(twice.fixed_seconds(), 2 * p.profile.fixed_seconds());
  EXPECT_DOUBLE_EQ(predicted_step(twice, p.graph, p.all()),
                   2 * predicted_step(p.profile, p.graph, p.all()));
}

// Made-up times, for measured ones may contradict each other: what learns together is no dearer
// than what learns alone, and saves the derivative something.
void make_up_times(TimingProfile& profile, std::mt19937& random) {
  std::uniform_real_distribution<double> seconds(0.5, 1.0);
  for (LayerTiming& layer : profile.layers) {
    layer.derivative = layer.all_derivative = seconds(random);
    double alone = 0;
    for (WeightTiming& w : layer.weights) {
      w = {w.name, seconds(random), seconds(random) * layer.derivative, seconds(random)};
      alone += w.gradient;
      layer.all_derivative = std::min(layer.all_derivative, w.derivative);
    }
    layer.all_gradient = alone * seconds(random);
  }
}

// The chain charges at least what the graph needs, but for what two weights of a layer both save.
TEST(TimingProfile, TheProblemBoundsThePrediction) {
  Profiled p(testing::residual_model());
  std::mt19937 random(1);
  for (int round = 0; round < 100; ++round) {
    make_up_times(p.profile, random);
    const ElasticProblem problem = elastic_problem(p.profile);
    ASSERT_EQ(problem.entries.size(), problem.weights.size());
    const auto selection = random_selection(p.all(), random);
    std::vector<std::size_t> selected;
    for (std::size_t e = 0; e < problem.weights.size(); ++e) {
      if (!selection.contains(problem.weights[e])) continue;
      EXPECT_TRUE(problem.entries[e].selectable);
      selected.push_back(e);
    }
    double saved_twice = 1e-9;
    for (const LayerTiming& layer : p.profile.layers) {
      double saved = 0;
      int learning = 0;
      for (const WeightTiming& w : layer.weights) {
        if (!selection.contains(w.name)) continue;
        saved += layer.derivative - w.derivative;
        ++learning;
      }
      if (learning > 1) saved_twice += saved;
    }
    const double parts = backward_seconds(problem.entries, selected) + saved_twice;
    const bool kernel = selection.contains(last_kernel(p.profile)->name);
    const double chain = p.profile.fixed_seconds() + BackwardTime(p.profile).seconds(parts, kernel);
    EXPECT_GE(chain, predicted_step(p.profile, p.graph, selection));
  }
}

TEST(TimingProfile, PassingIsBehindALayersOwnWeights) {
  const Profiled p(testing::chain_model());
  const ElasticProblem problem = elastic_problem(p.profile);
  EXPECT_EQ(problem.weights.front(), "");  // the loss
  const auto& names = problem.weights;
  const auto at = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) - names.begin();
  };
  EXPECT_LT(at("fully_connected0.weight"), at("conv2d1.weight"));
  EXPECT_LT(at("conv2d1.weight"), at("conv2d0.weight"));
  const auto fc = static_cast<std::size_t>(at("fully_connected0.bias"));
  EXPECT_EQ(problem.weights[fc + 1], "");
  EXPECT_DOUBLE_EQ(problem.entries[fc + 1].pass_seconds, p.layer("fully_connected0").derivative);
  EXPECT_FALSE(problem.entries[fc + 1].selectable);
}

}  // namespace
}  // namespace moil
