#include "base/median.h"

#include <gtest/gtest.h>

namespace moil {
namespace {

TEST(Median, IsTheMiddleOne) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 3);  // the larger of two
}

TEST(Median, SpreadIsThatOfEveryOtherMeasurementAndTheOthers) {
  EXPECT_NEAR(median_spread({1.1, 1, 1.1, 1, 1.1}), 0.1, 1e-12);
  EXPECT_NEAR(median_spread({1, 2, 1, 2}), 0.5, 1e-12);
  EXPECT_EQ(median_spread({3, 3, 3, 3}), 0);
}

// One that was disturbed moves little.
TEST(Median, SpreadOfADisturbedMeasurementIsSmall) {
  EXPECT_EQ(median_spread({1, 1, 50, 1, 1, 1}), 0);
}

TEST(Median, SpreadOfTooLittleIsNone) {
  EXPECT_EQ(median_spread({}), 0);
  EXPECT_EQ(median_spread({5}), 0);
  EXPECT_EQ(median_spread({5, 0}), 0);
}

}  // namespace
}  // namespace moil
