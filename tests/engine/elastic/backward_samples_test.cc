#include "engine/elastic/backward_samples.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/elastic/predicted_step.h"
#include "tests/engine/elastic/elastic_case.h"
#include "tests/engine/elastic/profiled.h"
#include "tests/engine/graph/models.h"

namespace moil {
namespace {

using testing::ElasticCase;
using testing::ModelBuilder;
using testing::Profiled;

ElasticCase residual_case() { return testing::random_times(testing::residual_model(), 1); }

std::set<std::string> all_of(const ElasticCase& c) {
  std::set<std::string> names;
  for (const auto& [name, importance] : c.importance) names.insert(name);
  return names;
}

double share_of(const ElasticCase& c, const std::set<std::string>& trained) {
  return PredictedStep(c.profile, c.graph, trained).parts() / backward_parts(c.profile);
}

TEST(BackwardSamples, AreOfEveryLength) {
  const ElasticCase c = residual_case();
  const auto samples = backward_samples(c.profile, c.graph);
  ASSERT_GE(samples.size(), 5U);
  const std::set<std::string> all = all_of(c);
  double shortest = 1, longest = 0;
  for (const auto& trained : samples) {
    EXPECT_FALSE(trained.empty());
    EXPECT_TRUE(std::ranges::includes(all, trained));
    EXPECT_LT(trained.size(), all.size());
    const double share = share_of(c, trained);
    shortest = std::min(shortest, share);
    longest = std::max(longest, share);
  }
  EXPECT_LT(shortest, 0.2);
  EXPECT_GT(longest, 0.6);
  EXPECT_LE(longest, 0.86);
}

// The last layer's tensors, and the same without its kernel.
TEST(BackwardSamples, BeginWithTheLastLayer) {
  const ElasticCase c = residual_case();
  const auto samples = backward_samples(c.profile, c.graph);
  ASSERT_GE(samples.size(), 2U);
  std::set<std::string> last = samples[0];
  EXPECT_TRUE(has_last_kernel(last, c.profile));
  last.erase(last_kernel(c.profile)->name);
  EXPECT_EQ(samples[1], last);
  EXPECT_FALSE(has_last_kernel(samples[1], c.profile));
}

// Something that does not learn lies behind something deeper that does.
bool has_gap(const ElasticCase& c, const std::set<std::string>& trained) {
  bool deeper = false, gap = false;
  for (const LayerTiming& layer : c.profile.layers) {
    for (const WeightTiming& w : layer.weights) {
      deeper = deeper || trained.contains(w.name);
      gap = gap || (deeper && !trained.contains(w.name));
    }
  }
  return gap;
}

TEST(BackwardSamples, LongerOnesLeaveGaps) {
  const ElasticCase c = residual_case();
  EXPECT_TRUE(has_gap(c, backward_samples(c.profile, c.graph).back()));
}

// As selections of a few hundredths of the time do; and with and without the last kernel.
TEST(BackwardSamples, ShortOnesOfADeepNetworkLeaveGaps) {
  ModelBuilder b({4});
  for (int i = 0; i < 100; ++i) b.fc(4).layer("tanh");
  const ElasticCase c = testing::random_times(b.fc(3).model(), 1);
  int with = 0, without = 0;
  for (const auto& trained : backward_samples(c.profile, c.graph)) {
    if (share_of(c, trained) > 0.13 || !has_gap(c, trained)) continue;
    ++(has_last_kernel(trained, c.profile) ? with : without);
  }
  EXPECT_EQ(with, 4);  // of two lengths, for two importances
  EXPECT_GE(without, 4);
}

TEST(BackwardSamples, AreTheSameForTheSameProfile) {
  const ElasticCase c = residual_case();
  EXPECT_EQ(backward_samples(c.profile, c.graph), backward_samples(c.profile, c.graph));
}

TEST(BackwardSamples, AreNeverEverything) {
  const std::set<std::string> layers = {"fully_connected0"};
  const Profiled p(testing::chain_model(), &layers);
  for (const auto& trained : backward_samples(p.profile, p.graph))
    EXPECT_LT(trained.size(), p.all().size());
}

TEST(BackwardSamples, OfNothingAreNone) {
  ElasticCase c = testing::random_times(testing::chain_model(), 1);
  for (LayerTiming& layer : c.profile.layers) layer.weights.clear();
  EXPECT_TRUE(backward_samples(c.profile, c.graph).empty());
}

// Of a backward pass of 100 s.
TEST(LargeWeights, AreTheLargestThatAreWorthIt) {
  TimingProfile profile;
  LayerTiming& layer = profile.layers.emplace_back();
  layer.weights = {{"a", 0, 0, 0.4}, {"b", 0, 0, 0.6}, {"c", 0, 0, 3}};
  layer.all_gradient = 96;
  EXPECT_EQ(large_weights(profile), (std::vector<std::string>{"c", "b"}));
  for (const char* name : {"d", "e", "f", "g", "h"}) layer.weights.push_back({name, 0, 0, 2});
  const auto most = large_weights(profile);
  ASSERT_EQ(most.size(), 6U);
  EXPECT_EQ(most.front(), "c");
  EXPECT_EQ(most.back(), "h");
}

}  // namespace
}  // namespace moil
