#include "engine/elastic/timing_profile.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "tests/engine/elastic/elastic_case.h"
#include "tests/engine/elastic/three_layers.h"

namespace moil {
namespace {

TEST(TimingProfile, PassingIsBehindALayersOwnWeights) {
  const test::ThreeLayers c;
  const ElasticProblem problem = elastic_problem(c.profile, /*forward_share=*/0.5);
  const auto& names = problem.weights;
  EXPECT_EQ(names.front(), "");  // the loss
  const auto at = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  };
  EXPECT_LT(at(test::kLast), at(test::kSecond));
  EXPECT_LT(at(test::kSecond), at(test::kFirst));
  const std::size_t last = at(test::kLast);
  EXPECT_EQ(problem.entries[last].update_seconds, 1);
  EXPECT_EQ(problem.entries[last].deepest_seconds, 0.5);  // half of its forward pass
  EXPECT_EQ(names[last + 1], "");
  EXPECT_EQ(problem.entries[last + 1].pass_seconds, 1.5);
  EXPECT_FALSE(problem.entries[last + 1].selectable);
}

using test::ElasticCase;
using test::Shape;

class PredictedStepOnGraphs : public ::testing::TestWithParam<Shape> {
 protected:
  // What every step takes outside of its layers is a part of it, too.
  static ElasticCase random_case(unsigned seed) {
    ElasticCase c = test::random_case(GetParam(), seed);
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
      all += layer.pass;
      for (const WeightTiming& w : layer.weights) {
        all += w.update;
        names.insert(w.name);
      }
    }
    EXPECT_DOUBLE_EQ(predicted_step(c.profile, c.graph, names), all) << "seed " << seed;
    EXPECT_DOUBLE_EQ(predicted_step(c.profile, c.graph, {}), c.profile.forward + 0.5);
  }
}

TEST_P(PredictedStepOnGraphs, RefusesAWeightThatIsNotThere) {
  const ElasticCase c = random_case(1);
  EXPECT_THROW((void)predicted_step(c.profile, c.graph, {"nobody.weight"}), Error);
}

}  // namespace
}  // namespace moil
