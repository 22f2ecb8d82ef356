#include "engine/elastic/backward_samples.h"

#include <gtest/gtest.h>

#include "engine/elastic/predicted_step.h"
#include "tests/engine/elastic/profiled.h"

namespace moil {
namespace {

using testing::Profiled;

// Every step by its layer's and tensor's place alone, so that no measurement decides.
TimingProfile even_profile(const Profiled& p) {
  TimingProfile profile = p.profile;
  for (LayerTiming& layer : profile.layers) {
    const double tensors = static_cast<double>(layer.weights.size());
    layer.derivative = layer.all_derivative = 1;
    layer.all_gradient = tensors;
    for (WeightTiming& w : layer.weights) w = {w.name, 1, 1, 0.1};
  }
  profile.backward.clear();
  profile.kernelless_backward.clear();
  return profile;
}

double share_of(const TimingProfile& profile, const Graph& graph,
                const std::set<std::string>& trained) {
  return PredictedStep(profile, graph, trained).parts() / backward_parts(profile);
}

bool is_subset(const std::set<std::string>& some, const std::set<std::string>& all) {
  return std::ranges::includes(all, some);
}

TEST(BackwardSamples, AreOfEveryLength) {
  const Profiled p(testing::residual_model());
  const TimingProfile profile = even_profile(p);
  const auto samples = backward_samples(profile, p.graph);
  ASSERT_GE(samples.size(), 5U);
  double shortest = 1, longest = 0;
  for (const auto& trained : samples) {
    EXPECT_FALSE(trained.empty());
    EXPECT_TRUE(is_subset(trained, p.all()));
    EXPECT_LT(trained.size(), p.all().size());
    const double share = share_of(profile, p.graph, trained);
    shortest = std::min(shortest, share);
    longest = std::max(longest, share);
  }
  EXPECT_LT(shortest, 0.2);
  EXPECT_GT(longest, 0.6);
  EXPECT_LE(longest, 0.86);
}

// The last layer's tensors, and the same without its kernel.
TEST(BackwardSamples, BeginWithTheLastLayer) {
  const Profiled p(testing::residual_model());
  const TimingProfile profile = even_profile(p);
  const auto samples = backward_samples(profile, p.graph);
  ASSERT_GE(samples.size(), 2U);
  std::set<std::string> last = samples[0];
  EXPECT_TRUE(has_last_kernel(last, profile));
  last.erase(last_kernel(profile)->name);
  EXPECT_EQ(samples[1], last);
  EXPECT_FALSE(has_last_kernel(samples[1], profile));
}

// As selections do, the longer ones leave gaps: something that does not learn lies behind
// something deeper that does.
TEST(BackwardSamples, LongerOnesLeaveGaps) {
  const Profiled p(testing::residual_model());
  const TimingProfile profile = even_profile(p);
  const auto samples = backward_samples(profile, p.graph);
  const std::set<std::string>& longest = samples.back();
  bool deeper = false, gap = false;
  for (const LayerTiming& layer : profile.layers) {
    for (const WeightTiming& w : layer.weights) {
      deeper = deeper || longest.contains(w.name);
      gap = gap || (deeper && !longest.contains(w.name));
    }
  }
  EXPECT_TRUE(gap);
}

TEST(BackwardSamples, AreTheSameForTheSameProfile) {
  const Profiled p(testing::residual_model());
  EXPECT_EQ(backward_samples(p.profile, p.graph), backward_samples(p.profile, p.graph));
}

TEST(BackwardSamples, AreNeverEverything) {
  const std::set<std::string> layers = {"fully_connected0"};
  const Profiled p(testing::chain_model(), &layers);
  for (const auto& trained : backward_samples(p.profile, p.graph))
    EXPECT_LT(trained.size(), p.all().size());
}

TEST(BackwardSamples, OfNothingAreNone) {
  const Profiled p(testing::chain_model());
  TimingProfile profile = p.profile;
  for (LayerTiming& layer : profile.layers) layer.weights.clear();
  EXPECT_TRUE(backward_samples(profile, p.graph).empty());
}

}  // namespace
}  // namespace moil
