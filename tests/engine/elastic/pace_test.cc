#include "engine/elastic/pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace moil {
namespace {

constexpr double kSmallest = 0.3;

// Every interval uses `of_it` of what it is given.
std::vector<double> shares(Pace pace, double rho, std::int64_t epochs, std::int64_t interval,
                           double of_it = 1) {
  std::vector<double> found;
  PaceSoFar so_far;
  while (so_far.epochs < epochs) {
    const std::int64_t next = std::min(interval, epochs - so_far.epochs);
    found.push_back(share_of_interval(pace, rho, {kSmallest, 0}, so_far, next, epochs));
    so_far.epochs += next;
    so_far.used += of_it * found.back() * static_cast<double>(next);
  }
  return found;
}

TEST(Pace, EvenIsTheSameForAll) {
  EXPECT_EQ(shares(Pace::kEven, 0.5, 8, 3), (std::vector<double>{0.5, 0.5, 0.5}));
}

TEST(Pace, FrontComesToTheSameTime) {
  for (const double rho : {0.3, 0.35, 0.5, 0.7, 0.9, 0.95, 1.0}) {
    for (const std::int64_t epochs : {1, 3, 8, 12, 50}) {
      const std::vector<double> found = shares(Pace::kFront, rho, epochs, 3);
      double sum = 0;
      for (std::size_t i = 0; i < found.size(); ++i)
        sum += found[i] *
               static_cast<double>(std::min<std::int64_t>(3, epochs - 3 * static_cast<int>(i)));
      EXPECT_NEAR(sum, rho * static_cast<double>(epochs), 1e-9) << rho << ", " << epochs;
      for (std::size_t i = 1; i < found.size(); ++i) EXPECT_LE(found[i], found[i - 1] + 1e-9);
      EXPECT_GE(found.back(), kSmallest - 1e-9);
      EXPECT_LE(found.front(), std::max(rho, 0.9) + 1e-9);
    }
  }
}

TEST(Pace, TheFirstGetAsMuchAsPossible) {
  const std::vector<double> found = shares(Pace::kFront, 0.5, 12, 3);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_DOUBLE_EQ(found[0], 0.9);
  EXPECT_NEAR(found[1], 2 - 0.9 - 2 * 0.32, 1e-9);
  EXPECT_NEAR(found[2], 0.32, 1e-9);
  EXPECT_NEAR(found[3], 0.32, 1e-9);
}

// Reserved while there is more than the least, then spent.
TEST(Pace, WhatTheLastNeedOnceIsThere) {
  const PaceLeast least{kSmallest, 0.3};
  const auto share = [&](std::int64_t epochs, double used) {
    return share_of_interval(Pace::kFront, 0.6, least, {epochs, used}, 3, 12);
  };
  const double second = 4 * 0.6 - 0.9 - 2 * 0.33 - 0.1;
  EXPECT_NEAR(share(0, 0), 0.9, 1e-9);
  EXPECT_NEAR(share(3, 3 * 0.9), second, 1e-9);
  EXPECT_NEAR(share(6, 3 * (0.9 + second)), 0.33 + 0.1, 1e-9);
  EXPECT_NEAR(share(9, 3 * (0.9 + second + 0.43)), 0.33, 1e-9);
}

TEST(Pace, WhatAnIntervalLeavesTheNextMayUse) {
  const auto all = shares(Pace::kFront, 0.5, 12, 3), part = shares(Pace::kFront, 0.5, 12, 3, 0.9);
  EXPECT_NEAR(part[1], all[1] + 0.09, 1e-9);
}

}  // namespace
}  // namespace moil
