#include "engine/train/tasks/tag_thresholds.h"

#include <gmock/gmock.h>

#include <cmath>

namespace moil {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Row = std::vector<float>;

// Samples of one label: so many with it and without it at a probability each.
void add(ThresholdChoice& choice, float probability, float target, int count) {
  for (int i = 0; i < count; ++i) choice.add(Row{probability}, Row{target});
}

TEST(TagThresholds, AreWhereF1IsBest) {
  ThresholdChoice choice;
  add(choice, 0.2F, 1, 1000);
  add(choice, 0.05F, 0, 1000);
  // Between 0.05 and 0.2, the nearest to 0.5, and nearly all of it counts.
  EXPECT_THAT(choice.result({}), ElementsAre(Pair(0, DoubleNear(0.18, 0.02))));
}

TEST(TagThresholds, StayWhereTheUsualOneIsAsGood) {
  ThresholdChoice choice;
  add(choice, 0.97F, 1, 50);
  add(choice, 0.02F, 0, 50);
  EXPECT_THAT(choice.result({}), ElementsAre(Pair(0, 0.5)));
  EXPECT_THAT(choice.result({{0, 0.3}}), ElementsAre(Pair(0, DoubleNear(0.3, 0.02))));
}

TEST(TagThresholds, OfFewSamplesStayNearTheUsualOne) {
  const auto chosen = [](int having) {
    ThresholdChoice choice;
    add(choice, 0.2F, 1, having);
    add(choice, 0.05F, 0, 1000);
    return choice.result({}).at(0);
  };
  EXPECT_GT(chosen(1), 0.4);
  EXPECT_LT(chosen(1), 0.5);
  EXPECT_LT(chosen(5), chosen(1));
  EXPECT_LT(chosen(200), 0.2);
}

TEST(TagThresholds, WhatSamplesDoNotTellKeepsItsOwn) {
  ThresholdChoice choice;
  EXPECT_THAT(choice.result({{3, 0.1}}), ElementsAre(Pair(3, 0.1)));
  choice.add(Row{0.1F, 0.9F, 0.3F}, Row{1, 0, NAN});
  choice.add(Row{0.2F, 0.8F, 0.3F}, Row{1, 0, NAN});
  EXPECT_THAT(choice.result({}), IsEmpty());
  EXPECT_THAT(choice.result({{1, 0.7}}), ElementsAre(Pair(1, 0.7)));
}

TEST(TagThresholds, AreHeldAsTheyAreSaid) {
  // A probability that is a threshold of the grid says the label.
  ThresholdChoice choice;
  add(choice, 0.5F, 1, 1000);
  add(choice, 0.49F, 0, 1000);
  EXPECT_THAT(choice.result({}), ElementsAre(Pair(0, 0.5)));
}

}  // namespace
}  // namespace moil
