#include "engine/elastic/interval_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/elastic/three_layers.h"

namespace moil {
namespace {

using ::testing::UnorderedElementsAre;

using test::kFirst;
using test::kLast;
using test::kSecond;

struct IntervalCase : test::ThreeLayers {
  std::set<std::string> select(double seconds, const TailTerms& tail,
                               const std::map<std::string, double>& importance) const {
    return select_for_interval({.profile = profile,
                                .tail = tail,
                                .importance = importance,
                                .step_seconds = seconds,
                                .fits = {}});
  }
  double step(const TailTerms& tail, const std::set<std::string>& selection) const {
    return interval_step(profile, graph, tail, selection);
  }
};

const std::map<std::string, double> kAlike = {{kFirst, 1}, {kSecond, 1}, {kLast, 1}};

// Six layers with the loss: forward takes 6.
TEST(IntervalSelection, AStepTakesLessBehindMaps) {
  const IntervalCase c;
  const TailTerms none, tail = c.terms(0.25);
  EXPECT_EQ(c.step(none, {kLast}), 6 + 1 + 1);  // and the loss's derivative
  EXPECT_EQ(c.step(tail, {kLast}), 8 - 0.75 * 4);
  EXPECT_EQ(c.step(tail, {kFirst}), c.step(none, {kFirst}));
}

TEST(IntervalSelection, WhatMapsSaveIsTrainedIn) {
  const IntervalCase c;
  EXPECT_THAT(c.select(9, {}, kAlike), UnorderedElementsAre(kLast));
  // The first two layers saved: 10 + 1 - 0.75 * 2
  EXPECT_THAT(c.select(9.6, c.terms(0.25), kAlike), UnorderedElementsAre(kLast, kSecond));
}

TEST(IntervalSelection, WhatMattersMoreThanTheMapsIsTrainedBeforeThem) {
  const IntervalCase c;
  const std::map<std::string, double> first = {{kFirst, 9}, {kSecond, 1}, {kLast, 1}};
  EXPECT_TRUE(c.select(12, c.terms(0.25), first).contains(kFirst));
}

// With maps that are there, less time does.
TEST(IntervalSelection, MapsThatAreThereAreUsed) {
  const IntervalCase c;
  TailTerms tail = c.terms(1);
  tail.kept = "relu1";
  tail.kept_computed = 0;
  EXPECT_THAT(c.select(4, tail, kAlike), UnorderedElementsAre(kLast));
  EXPECT_EQ(c.step(tail, {kLast}), 4);
}

TEST(IntervalSelection, WhereNothingFitsTheCheapest) {
  const IntervalCase c;
  EXPECT_THAT(c.select(1, {}, kAlike), UnorderedElementsAre(kLast));  // longer than allowed
}

// A probe that speaks against a tensor keeps it behind the others, not out of time that is left.
TEST(IntervalSelection, TimeThatIsLeftTrainsWhatIsOfNoUse) {
  const IntervalCase c;
  const std::map<std::string, double> useless = {{kFirst, 0}, {kSecond, -3}, {kLast, 0}};
  const std::map<std::string, double> last = {{kFirst, -1e300}, {kSecond, -3}, {kLast, 2}};
  const std::map<std::string, double> first = {{kFirst, 0.5}, {kSecond, -3}, {kLast, -3}};
  for (const auto* importance : {&useless, &last}) {
    EXPECT_THAT(c.select(8, {}, *importance), UnorderedElementsAre(kLast));
    EXPECT_EQ(c.select(99, {}, *importance).size(), 3U);
  }
  const double alone = c.step({}, {kFirst});
  EXPECT_THAT(c.select(alone, {}, first), UnorderedElementsAre(kFirst));
}

TEST(IntervalSelection, NeverTakesLongerThanAllowed) {
  const IntervalCase c;
  for (double seconds = 5; seconds < 14; seconds += 0.3) {
    for (const double computed : {0.0, 0.3, 0.9}) {
      const TailTerms tail = c.terms(computed);
      const double took = c.step(tail, c.select(seconds, tail, kAlike));
      EXPECT_LE(took, std::max(seconds, c.step(tail, {kLast})) + 1e-9) << seconds << computed;
    }
  }
}

TEST(IntervalSelection, TheCheapestLayerIsOneWithAllItsWeights) {
  IntervalCase c;
  EXPECT_THAT(cheapest_layer(c.profile).weights, UnorderedElementsAre(kLast));
  EXPECT_EQ(cheapest_layer(c.profile).backward_seconds, 2);
  EXPECT_TRUE(cheapest_layer({}).weights.empty());
}

// Forward takes 6 seconds; with its last layer's weight a step takes 8, and 4 fewer behind maps.
constexpr double kWhole = 8, kBehind = 4, kComputed = 4;

PaceLeast least_of(const test::ThreeLayers& layers, const TailTerms& tail) {
  return pace_least(layers.profile, layers.graph, tail, /*epochs=*/2);
}

TEST(PaceLeast, WithoutMapsAStepOfTheCheapestLayer) {
  const test::ThreeLayers layers;
  EXPECT_NEAR(smallest_speedup_ratio(layers.profile), kWhole / layers.profile.step, 1e-6);
  const PaceLeast least = least_of(layers, {});
  EXPECT_NEAR(least.share, kWhole / layers.profile.step, 1e-6);
  EXPECT_EQ(least.once, 0);
}

TEST(PaceLeast, MapsAreComputedOnceForAllEpochs) {
  const test::ThreeLayers layers;
  const TailTerms all = layers.terms(0.5);
  const PaceLeast least = least_of(layers, all);
  EXPECT_NEAR(least.share, kBehind / layers.profile.step, 1e-6);
  EXPECT_NEAR(least.once, 0.5 * 2 * kComputed / layers.profile.step, 1e-6);
}

TEST(PaceLeast, MapsThatAreThereNeedNotBeComputed) {
  const test::ThreeLayers layers;
  TailTerms tail = layers.terms(0.5);
  tail.kept = layers.cuts.back().cut.value;
  tail.kept_computed = 0;
  EXPECT_NEAR(least_of(layers, tail).once, 0, 1e-6);
  tail.kept = layers.cuts.front().cut.value;
  EXPECT_GT(least_of(layers, tail).once, 0);
}

}  // namespace
}  // namespace moil
