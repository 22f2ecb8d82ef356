#include "engine/elastic/predicted_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "tests/engine/elastic/elastic_case.h"

namespace moil {
namespace {

using testing::ElasticCase;
using testing::Shape;

class PredictedStepOnGraphs : public ::testing::TestWithParam<Shape> {
 protected:
  // What every step takes outside of its layers is a part of it, too.
  static ElasticCase random_case(unsigned seed) {
    ElasticCase c = testing::random_case(GetParam(), seed);
    c.profile.besides = 0.5;
    return c;
  }
};
INSTANTIATE_TEST_SUITE_P(All, PredictedStepOnGraphs,
                         ::testing::Values(Shape::kLine, Shape::kBranches));

constexpr unsigned kSeeds = 50;

// Put together from the steps: the parts must be all there, and no others.
TEST_P(PredictedStepOnGraphs, OfEverythingIsAllOfTheProfile) {
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    const ElasticCase c = random_case(seed);
    double all = c.profile.forward + 0.5;
    std::set<std::string> names;
    for (const LayerTiming& layer : c.profile.layers) {
      all += layer.all_gradient + layer.all_derivative;
      for (const WeightTiming& w : layer.weights) {
        all += w.apply;
        names.insert(w.name);
      }
    }
    EXPECT_DOUBLE_EQ(predicted_step(c.profile, c.graph, names), all) << "seed " << seed;
    EXPECT_DOUBLE_EQ(predicted_step(c.profile, c.graph, {}), c.profile.forward + 0.5);
  }
}

// Every tensor in turn, in any order: as predicted anew, and as it was said to add.
TEST_P(PredictedStepOnGraphs, GrowsAsItIsPredictedAnew) {
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    ElasticCase c = random_case(seed);
    if (seed % 2 == 0) testing::give_backward(c.profile);
    if (seed % 3 == 0) testing::give_large(c.profile);
    std::vector<PredictedStep::Tensor> tensors;
    for (std::size_t i = 0; i < c.profile.layers.size(); ++i) {
      for (std::size_t w = 0; w < c.profile.layers[i].weights.size(); ++w)
        tensors.push_back({i, w});
    }
    std::shuffle(tensors.begin(), tensors.end(), std::mt19937(seed));
    PredictedStep step(c.profile, c.graph, {});
    std::set<std::string> selection;
    for (const auto t : tensors) {
      EXPECT_FALSE(step.learns(t));
      const double grown = step.parts() + step.way_parts(t.layer) + step.own_parts(t);
      const double with = step.seconds_with(t, grown);
      step.add(t);
      selection.insert(c.profile.layers[t.layer].weights[t.weight].name);
      EXPECT_TRUE(step.learns(t));
      EXPECT_NEAR(step.seconds(), with, 1e-9) << "seed " << seed;
      EXPECT_NEAR(step.seconds(), predicted_step(c.profile, c.graph, selection), 1e-9);
    }
  }
}

// Large weights by layer, from the input on.
std::vector<std::pair<std::size_t, std::string>> large_of(const TimingProfile& profile) {
  std::vector<std::pair<std::size_t, std::string>> large;
  for (std::size_t i = 0; i < profile.layers.size(); ++i) {
    for (const WeightTiming& w : profile.layers[i].weights) {
      if (w.is_large()) large.emplace_back(i, w.name);
    }
  }
  return large;
}

// Whatever learns behind it; another large one or something deeper makes it as long as among
// others.
TEST(PredictedStep, OfALargeWeightTakesLessWhereItIsTheOnlyOneAndTheDeepest) {
  int compared = 0;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    ElasticCase c = testing::random_case(Shape::kLine, seed);
    const TimingProfile before = c.profile;
    if (testing::give_large(c.profile) < 2) continue;
    const auto large = large_of(c.profile);
    const auto [deepest, name] = large[0];
    const auto saved = [&](const std::set<std::string>& selection) {
      return predicted_step(before, c.graph, selection) -
             predicted_step(c.profile, c.graph, selection);
    };
    std::set<std::string> behind, deeper;
    for (std::size_t i = 0; i < c.profile.layers.size(); ++i) {
      for (const WeightTiming& w : c.profile.layers[i].weights) {
        if (!w.is_large() && i != deepest) (i < deepest ? deeper : behind).insert(w.name);
      }
    }
    const WeightTiming& weight = *lone_weight({name}, c.profile);
    const double half = (weight.gradient + weight.apply) / 2;
    EXPECT_NEAR(saved({name}), half, 1e-9) << "seed " << seed;
    EXPECT_EQ(saved(behind), 0);
    behind.insert(name);
    EXPECT_NEAR(saved(behind), half, 1e-9) << "seed " << seed;
    EXPECT_EQ(saved({name, large[1].second}), 0);
    if (deeper.empty()) continue;
    deeper.insert(name);
    EXPECT_EQ(saved(deeper), 0);
    ++compared;
  }
  EXPECT_GT(compared, 10);
}

TEST_P(PredictedStepOnGraphs, RefusesAWeightThatIsNotThere) {
  ElasticCase c = random_case(1);
  EXPECT_THROW((void)predicted_step(c.profile, c.graph, {"nobody.weight"}), Error);
  const std::string name = c.importance.begin()->first;
  for (LayerTiming& layer : c.profile.layers) layer.weights.clear();
  EXPECT_THROW((void)predicted_step(c.profile, c.graph, {name}), Error);
}

}  // namespace
}  // namespace moil
