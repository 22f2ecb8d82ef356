#include "engine/elastic/pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace moil {
namespace {

constexpr double kSmallest = 0.3;

struct Given {
  std::int64_t epochs = 0;
  double share = 0;
};

// Every interval uses `of_it` of what it is given.
std::vector<Given> given(Pace pace, double rho, std::int64_t epochs, std::int64_t interval,
                         double of_it = 1) {
  std::vector<Given> found;
  const PaceLeast least{kSmallest, 0};
  PaceSoFar so_far{.total_epochs = epochs};
  while (so_far.epochs < epochs) {
    Given next;
    next.epochs = epochs_of_interval(pace, rho, least, so_far, interval);
    next.share = share_of_interval(pace, rho, least, so_far, next.epochs);
    so_far.epochs += next.epochs;
    so_far.used += of_it * next.share * static_cast<double>(next.epochs);
    found.push_back(next);
  }
  return found;
}

void expect_given(const std::vector<Given>& found, const std::vector<Given>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].epochs, expected[i].epochs) << i;
    EXPECT_NEAR(found[i].share, expected[i].share, 1e-9) << i;
  }
}

TEST(Pace, EvenIsTheSameForAll) {
  expect_given(given(Pace::kEven, 0.5, 8, 3), {{3, 0.5}, {3, 0.5}, {2, 0.5}});
}

TEST(Pace, FrontComesToTheSameTime) {
  for (const double rho : {0.3, 0.35, 0.5, 0.7, 0.9, 0.95, 1.0}) {
    for (const std::int64_t epochs : {1, 3, 8, 12, 50}) {
      for (const std::int64_t interval : {1, 3, 7}) {
        const std::vector<Given> found = given(Pace::kFront, rho, epochs, interval);
        double sum = 0;
        std::int64_t all = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
          sum += found[i].share * static_cast<double>(found[i].epochs);
          all += found[i].epochs;
          EXPECT_LE(found[i].share, found[i > 0 ? i - 1 : 0].share + 1e-9);
        }
        EXPECT_NEAR(sum, rho * static_cast<double>(epochs), 1e-9) << rho << ", " << epochs;
        EXPECT_EQ(all, epochs);
        EXPECT_GE(found.back().share, kSmallest - 1e-9);
        EXPECT_LE(found.front().share, std::max(rho, 0.9) + 1e-9);
      }
    }
  }
}

// Six full steps' time: 0.32 is kept for each of twelve epochs, the rest is 3.7 long steps.
TEST(Pace, TheFirstGetAsMuchAsPossible) {
  expect_given(given(Pace::kFront, 0.5, 12, 3),
               {{3, 0.9}, {1, 6 - 3 * 0.9 - 8 * 0.32}, {3, 0.32}, {3, 0.32}, {2, 0.32}});
}

TEST(Pace, TheLastIntervalsAreNoneOfAnEpoch) {
  expect_given(
      given(Pace::kFront, 0.5, 12, 1),
      {{1, 0.9}, {1, 0.9}, {1, 0.9}, {1, 6 - 3 * 0.9 - 8 * 0.32}, {3, 0.32}, {3, 0.32}, {2, 0.32}});
}

// Reserved while there is more than the least, then spent.
TEST(Pace, WhatTheLastNeedOnceIsThere) {
  const PaceLeast least{kSmallest, 0.3};
  const auto share = [&](std::int64_t epochs, double used) {
    return share_of_interval(Pace::kFront, 0.6, least, {epochs, used, 12}, 3);
  };
  const double second = 4 * 0.6 - 0.9 - 2 * 0.33 - 0.1;
  EXPECT_NEAR(share(0, 0), 0.9, 1e-9);
  EXPECT_NEAR(share(3, 3 * 0.9), second, 1e-9);
  EXPECT_NEAR(share(6, 3 * (0.9 + second)), 0.33 + 0.1, 1e-9);
  EXPECT_NEAR(share(9, 3 * (0.9 + second + 0.43)), 0.33, 1e-9);
}

TEST(Pace, WhatAnIntervalLeavesTheNextMayUse) {
  const auto all = given(Pace::kFront, 0.5, 12, 3), part = given(Pace::kFront, 0.5, 12, 3, 0.95);
  EXPECT_NEAR(part[1].share, std::min(0.9, all[1].share + 3 * 0.05 * 0.9), 1e-9);
}

// What is needed once is of no long step, and what is left of an epoch's half is one.
TEST(Pace, LongStepsAreCountedInWholeEpochs) {
  const auto epochs = [](double once, double used) {
    return epochs_of_interval(Pace::kFront, 0.5, {kSmallest, once}, {3, used, 12}, 3);
  };
  const double for_long = 6 - 9 * 0.32;  // in the nine epochs that are left
  EXPECT_EQ(epochs(0, for_long - 3 * 0.58), 3);
  EXPECT_EQ(epochs(0, for_long - 1.6 * 0.58), 2);
  EXPECT_EQ(epochs(0.2 * 0.58, for_long - 1.6 * 0.58), 1);
  EXPECT_EQ(epochs(0, for_long - 0.4 * 0.58), 3);  // none: the last ones have begun
}

}  // namespace
}  // namespace moil
