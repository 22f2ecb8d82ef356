#include "daemon/study/useful_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace moil::night {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(UsefulOrder, ATwinOfWhatWasChosenComesLate) {
  const std::vector<float> features = {1, 0, 1, 0.01F, -1, 0, 0, 1, 0, -1};
  EXPECT_THAT(useful_order(std::vector<double>{0.9, 0.8, 0.5, 0.4, 0.3}, features, 2, 4),
              ElementsAre(0, 2, 3, 4));
}

TEST(UsefulOrder, WhatIsCertainComesAfterWhatIsNot) {
  const std::vector<float> features = {1, 0, -1, 0, 0, 1};
  EXPECT_THAT(useful_order(std::vector<double>{0.0, 0.2, 0.7}, features, 2, 3),
              ElementsAre(2, 1, 0));
}

TEST(UsefulOrder, TakesNoMoreThanThereAre) {
  EXPECT_THAT(useful_order({}, {}, 4, 10), IsEmpty());
  EXPECT_THAT(useful_order(std::vector<double>{0.5, 0.5}, std::vector<float>{2, 2}, 1, 10),
              ElementsAre(0, 1));
}

}  // namespace
}  // namespace moil::night
