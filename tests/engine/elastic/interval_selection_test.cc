#include "engine/elastic/interval_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/elastic/predicted_step.h"
#include "tests/engine/elastic/three_layers.h"

namespace moil {
namespace {

using ::testing::UnorderedElementsAre;

using testing::kFirst;
using testing::kLast;
using testing::kSecond;

struct Case : testing::ThreeLayers {
  std::set<std::string> select(double seconds, const TailTerms& tail,
                               const std::map<std::string, double>& importance,
                               const std::set<std::string>* before = nullptr) const {
    return select_for_interval(
        IntervalStep(profile, graph, tail),
        {.importance = importance, .step_seconds = seconds, .before = before, .fits = {}});
  }
};

const std::map<std::string, double> kAlike = {{kFirst, 1}, {kSecond, 1}, {kLast, 1}};

// Six layers with the loss: forward takes 6.
TEST(IntervalSelection, AStepTakesLessBehindMaps) {
  const Case c;
  const TailTerms none, tail = c.terms(0.25);
  const IntervalStep whole(c.profile, c.graph, none), cut(c.profile, c.graph, tail);
  EXPECT_EQ(whole.seconds({kLast}), 6 + 1 + 1);  // and the loss's derivative
  EXPECT_EQ(cut.seconds({kLast}), 8 - 0.75 * 4);
  EXPECT_EQ(cut.seconds({kFirst}), whole.seconds({kFirst}));
}

TEST(IntervalSelection, WhatMapsSaveIsTrainedIn) {
  const Case c;
  EXPECT_THAT(c.select(9, {}, kAlike), UnorderedElementsAre(kLast));
  // The first two layers saved: 10 + 1 - 0.75 * 2
  EXPECT_THAT(c.select(9.6, c.terms(0.25), kAlike), UnorderedElementsAre(kLast, kSecond));
}

TEST(IntervalSelection, WhatMattersMoreThanTheMapsIsTrainedBeforeThem) {
  const Case c;
  const std::map<std::string, double> first = {{kFirst, 9}, {kSecond, 1}, {kLast, 1}};
  EXPECT_TRUE(c.select(12, c.terms(0.25), first).contains(kFirst));
}

// Behind maps the last layer would take all the importance there is in half of the time.
TEST(IntervalSelection, TimeThatMapsWouldLeaveIsTrainedIn) {
  const Case c;
  const std::map<std::string, double> last = {{kFirst, -1}, {kSecond, -1}, {kLast, 1}};
  EXPECT_THAT(c.select(8, c.terms(0.25), last), UnorderedElementsAre(kLast));
  EXPECT_THAT(c.select(c.profile.step, c.terms(0.25), last),
              UnorderedElementsAre(kFirst, kSecond, kLast));
}

// With maps that are there, less time does.
TEST(IntervalSelection, MapsThatAreThereAreUsed) {
  const Case c;
  TailTerms tail = c.terms(1);
  tail.kept = "relu1";
  tail.kept_computed = 0;
  EXPECT_THAT(c.select(4, tail, kAlike), UnorderedElementsAre(kLast));
  const IntervalStep step(c.profile, c.graph, tail);
  EXPECT_EQ(step.seconds({kLast}), 4);
}

TEST(IntervalSelection, WhereNothingIsOfUseWhatWasTrainedOrTheCheapest) {
  const Case c;
  const std::map<std::string, double> useless = {{kFirst, 0}, {kSecond, 0}, {kLast, 0}};
  EXPECT_THAT(c.select(8, {}, useless), UnorderedElementsAre(kLast));
  EXPECT_THAT(c.select(1, {}, useless), UnorderedElementsAre(kLast));  // longer than allowed
  const std::set<std::string> before = {kSecond};
  EXPECT_TRUE(c.select(11, {}, useless, &before).contains(kSecond));
}

TEST(IntervalSelection, NeverTakesLongerThanAllowed) {
  const Case c;
  for (double seconds = 5; seconds < 14; seconds += 0.3) {
    for (const double computed : {0.0, 0.3, 0.9}) {
      const TailTerms tail = c.terms(computed);
      const IntervalStep step(c.profile, c.graph, tail);
      const double took = step.seconds(c.select(seconds, tail, kAlike));
      EXPECT_LE(took, std::max(seconds, step.seconds({kLast})) + 1e-9) << seconds << computed;
    }
  }
}

TEST(IntervalSelection, TheCheapestLayerIsOneWithAllItsWeights) {
  Case c;
  EXPECT_THAT(cheapest_layer(c.profile).weights, UnorderedElementsAre(kLast));
  EXPECT_EQ(cheapest_layer(c.profile).backward_seconds, 2);
  EXPECT_TRUE(cheapest_layer({}).weights.empty());
}

}  // namespace
}  // namespace moil
