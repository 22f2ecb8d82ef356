#include "engine/elastic/pace_least.h"

#include <gtest/gtest.h>

#include "tests/engine/elastic/three_layers.h"

namespace moil {
namespace {

using testing::kLast;
using testing::ThreeLayers;

// Forward takes 6 seconds; with its last layer's weight a step takes 8, and 4 fewer behind maps.
constexpr double kWhole = 8, kBehind = 4, kComputed = 4;

PaceLeast least_of(const ThreeLayers& layers, const TailTerms& tail, std::int64_t epochs = 2,
                   const ElasticOverhead& overhead = {}) {
  ProfileInForce profile;
  profile.profile = layers.profile;
  profile.overhead = overhead;
  return pace_least(profile, layers.graph, tail, epochs, /*steps_of_epoch=*/10);
}

TEST(PaceLeast, WithoutMapsAStepOfTheCheapestLayer) {
  const ThreeLayers layers;
  EXPECT_NEAR(smallest_speedup_ratio(layers.profile), kWhole / layers.profile.step, 1e-6);
  const PaceLeast least = least_of(layers, {});
  EXPECT_NEAR(least.share, kWhole / layers.profile.step, 1e-6);
  EXPECT_EQ(least.once, 0);
}

TEST(PaceLeast, MapsAreComputedOnceForAllEpochs) {
  const ThreeLayers layers;
  const TailTerms all = layers.terms(0.5);
  const PaceLeast least = least_of(layers, all);
  EXPECT_NEAR(least.share, kBehind / layers.profile.step, 1e-6);
  EXPECT_NEAR(least.once, 0.5 * 2 * kComputed / layers.profile.step, 1e-6);
}

TEST(PaceLeast, MapsThatAreThereNeedNotBeComputed) {
  const ThreeLayers layers;
  TailTerms tail = layers.terms(0.5);
  tail.kept = layers.cuts.back().cut.value;
  tail.kept_computed = 0;
  EXPECT_NEAR(least_of(layers, tail).once, 0, 1e-6);
  tail.kept = layers.cuts.front().cut.value;
  EXPECT_GT(least_of(layers, tail).once, 0);
}

TEST(PaceLeast, ChoosingIsPaidByTheStepsOfAnInterval) {
  const ThreeLayers layers;
  const ElasticOverhead overhead{.read = 0, .choose = 4};
  EXPECT_NEAR(least_of(layers, {}, 1, overhead).share, (kWhole + 4.0 / 10) / layers.profile.step,
              1e-6);
  EXPECT_NEAR(least_of(layers, {}, 2, overhead).share, (kWhole + 4.0 / 20) / layers.profile.step,
              1e-6);
}

}  // namespace
}  // namespace moil
