#include "engine/elastic/profile_update.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "engine/elastic/backward_time.h"
#include "engine/elastic/predicted_step.h"
#include "engine/graph/backward_needs.h"
#include "tests/engine/elastic/elastic_case.h"

namespace moil {
namespace {

using testing::ElasticCase;
using testing::Shape;

constexpr unsigned kSeeds = 50;

std::set<std::string> random_selection(const ElasticCase& c, unsigned seed) {
  std::mt19937 random(seed);
  std::set<std::string> selection;
  for (const auto& [name, importance] : c.importance) {
    if (random() % 2 == 0) selection.insert(name);
  }
  return selection;
}

// What a machine measures of steps that train the selection, if the profile is its own.
StepSeconds steps_of(const TimingProfile& profile, const std::set<std::string>& selection) {
  StepSeconds steps;
  for (std::size_t i = 0; i < profile.layers.size(); ++i) {
    const LayerTiming& layer = profile.layers[i];
    const int node = static_cast<int>(i);
    std::vector<bool> learns;
    double apply = 0;
    for (const WeightTiming& w : layer.weights) {
      learns.push_back(selection.contains(w.name));
      if (learns.back()) apply += w.apply;
    }
    steps[{node, StepKind::kForward}] = layer.forward;
    steps[{node, StepKind::kComputeGradient}] = layer.update_seconds(learns) - apply;
    steps[{node, StepKind::kApplyGradient}] = apply;
    steps[{node, StepKind::kComputeDerivative}] = layer.pass_seconds(learns);
  }
  return steps;
}

// What the steps take where that is not what their layers' parts add up to.
StepSeconds as_trained(const ElasticCase& c, const std::set<std::string>& selection,
                       StepSeconds steps) {
  double parts = 0;
  for (const auto& [step, seconds] : steps)
    if (step.second != StepKind::kForward) parts += seconds / 1.7;
  const bool kernel = selection.contains(last_kernel(c.profile)->name);
  const double factor = BackwardTime(c.profile).seconds(parts, kernel) / parts;
  for (auto& [step, seconds] : steps)
    if (step.second != StepKind::kForward) seconds *= factor;
  return steps;
}

class ProfileUpdateOnGraphs : public ::testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(All, ProfileUpdateOnGraphs,
                         ::testing::Values(Shape::kLine, Shape::kBranches));

TEST_P(ProfileUpdateOnGraphs, OfTheSameMachineChangesNothing) {
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    const ElasticCase c = testing::random_case(GetParam(), seed);
    const auto selection = random_selection(c, seed);
    const TimingProfile now = updated_profile(c.profile, steps_of(c.profile, selection), selection);
    EXPECT_NEAR(now.step, c.profile.step, 1e-9) << "seed " << seed;
    for (const auto& [name, importance] : c.importance)
      EXPECT_NEAR(predicted_step(now, c.graph, {name}), predicted_step(c.profile, c.graph, {name}),
                  1e-9);
  }
}

// All of it, whatever was trained: what was measured and what was not.
TEST_P(ProfileUpdateOnGraphs, OfASlowerMachineIsScaled) {
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    ElasticCase c = testing::random_case(GetParam(), seed);
    const auto selection = random_selection(c, seed);
    if (seed % 2 == 0) testing::give_backward(c.profile);
    const TimingProfile slow = scaled(c.profile, 1.7);
    const TimingProfile now =
        updated_profile(c.profile, as_trained(c, selection, steps_of(slow, selection)), selection);
    EXPECT_NEAR(now.step, slow.step, 1e-9) << "seed " << seed;
    for (const auto& [name, importance] : c.importance)
      EXPECT_NEAR(predicted_step(now, c.graph, {name}), predicted_step(slow, c.graph, {name}),
                  1e-9);
  }
}

// The error passes no further than it must; what a large weight saves there is saved.
StepSeconds steps_on_graph(const Graph& graph, const TimingProfile& profile,
                           const std::set<std::string>& selection) {
  StepSeconds steps = steps_of(profile, selection);
  const WeightTiming* lone = lone_weight(selection, profile);
  const BackwardNeeds needs = backward_needs(graph, selection);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (needs.derivative_of_inputs(graph.nodes[i])) continue;
    const int node = static_cast<int>(i);
    steps.erase({node, StepKind::kComputeDerivative});
    for (const WeightTiming& w : profile.layers[i].weights) {
      if (&w != lone) continue;
      steps[{node, StepKind::kComputeGradient}] -= w.saved_gradient();
      steps[{node, StepKind::kApplyGradient}] -= w.saved_apply();
    }
  }
  return steps;
}

// What a large weight takes alone, too, whether it was trained alone or with something deeper.
TEST_P(ProfileUpdateOnGraphs, ScalesLargeWeightsOfASlowerMachine) {
  int alone = 0;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    ElasticCase c = testing::random_case(GetParam(), seed);
    testing::give_large(c.profile);
    for (const auto& [weight, its_importance] : c.importance) {
      std::set<std::string> selection = {weight};
      if (seed % 2 == 0) selection.insert(c.importance.begin()->first);
      if (lone_weight(selection, c.profile)) ++alone;
      const TimingProfile slow = scaled(c.profile, 1.7);
      const TimingProfile now =
          updated_profile(c.profile, steps_on_graph(c.graph, slow, selection), selection);
      EXPECT_NEAR(now.step, slow.step, 1e-9) << "seed " << seed;
      for (const auto& [name, importance] : c.importance)
        EXPECT_NEAR(predicted_step(now, c.graph, {name}), predicted_step(slow, c.graph, {name}),
                    1e-9);
    }
  }
  EXPECT_GT(alone, 50);
}

// Where single layers are slowed, steps that train what was trained are predicted as they were.
TEST_P(ProfileUpdateOnGraphs, FollowsEachLayerThatWasTrained) {
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    const ElasticCase c = testing::random_case(GetParam(), seed);
    const auto selection = random_selection(c, seed);
    TimingProfile slow = c.profile;
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> factor(1, 3);
    for (LayerTiming& layer : slow.layers) {
      TimingProfile one;
      one.layers = {layer};
      layer = scaled(one, factor(random)).layers[0];
    }
    slow.forward = 0;
    for (const LayerTiming& layer : slow.layers) slow.forward += layer.forward;
    const TimingProfile now = updated_profile(c.profile, steps_of(slow, selection), selection);
    EXPECT_NEAR(predicted_step(now, c.graph, selection), predicted_step(slow, c.graph, selection),
                1e-9)
        << "seed " << seed;
  }
}

TEST(ProfileUpdate, NeedsAForwardPass) {
  const ElasticCase c = testing::random_case(Shape::kLine, 1);
  EXPECT_THROW((void)updated_profile(c.profile, {}, {}), Error);
}

TEST(ProfileUpdate, MeansAreOfAPass) {
  NetworkPlan plan;
  plan.steps = {{.order = 0, .kind = StepKind::kForward, .node = 0},
                {.order = 2, .kind = StepKind::kComputeGradient, .node = 0}};
  const StepSeconds seconds = mean_seconds(plan, {8, 1, 4}, 4);
  EXPECT_EQ(seconds,
            (StepSeconds{{{0, StepKind::kForward}, 2}, {{0, StepKind::kComputeGradient}, 1}}));
}

}  // namespace
}  // namespace moil
