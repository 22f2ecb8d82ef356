#include "daemon/night/plan/deadline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace moil::night {
namespace {

// Deeper heads take longer; 100 steps.
const HeadTimes kHeads[] = {{1, 0.1, 0.08, 0.002}, {2, 0.4, 0.1, 0.001}, {3, 1.0, 0.2, 0}};
constexpr NightCosts kCosts{30, 10, 100, 1000};

TEST(Deadline, TimeEnoughTrainsEverythingInFull) {
  const HeadChoice choice = choose_head(kHeads, kCosts, 1000);
  EXPECT_EQ(choice.trained_units, 3);
  EXPECT_EQ(choice.rho, 1);
}

TEST(Deadline, TheDeepestHeadThatKeepsHalfAStep) {
  const HeadChoice deep = choose_head(kHeads, kCosts, 40 + 105 * 0.6);
  EXPECT_EQ(deep.trained_units, 3);
  EXPECT_NEAR(deep.rho, 0.6, 1e-9);
  const HeadChoice shallow = choose_head(kHeads, kCosts, 40 + 105 * 0.4);
  EXPECT_EQ(shallow.trained_units, 2);
  EXPECT_GT(shallow.rho, 0.9);
}

// What a shallower head saves in steps it costs in its backbone.
TEST(Deadline, BackbonesOfShallowerHeadsTakeLonger) {
  const HeadTimes heads[] = {{1, 0.1, 0.08, 0.05}, {2, 0.2, 0.1, 0}};
  EXPECT_EQ(choose_head(heads, kCosts, 40 + 105 * 0.11).trained_units, 2);
}

TEST(Deadline, TheImpossibleNamesTheShortest) {
  try {
    (void)choose_head(kHeads, kCosts, 45);
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(e.what(), ::testing::HasSubstr("shortest possible is about 51"));
  }
  EXPECT_NO_THROW((void)choose_head(kHeads, kCosts, 51));
}

TEST(Deadline, RhoIsNeverLessThanWhatAHeadNeeds) {
  const HeadTimes head{2, 0.4, 0.1, 0};
  EXPECT_EQ(rho_in_time(head, 1e6, 100), 1);
  EXPECT_NEAR(rho_in_time(head, 105 * 0.2, 100), 0.5, 1e-9);
  EXPECT_NEAR(rho_in_time(head, -5, 100), 1.01 * 0.25, 1e-9);
}

}  // namespace
}  // namespace moil::night
