#include "engine/elastic/backward_time.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace moil {
namespace {

// Its parts add up to 10 s, and the kernel's update to 2.
TimingProfile profile(std::vector<BackwardTiming> backward,
                      std::vector<BackwardTiming> kernelless = {}) {
  TimingProfile profile;
  profile.layers.push_back({"conv", 1, 0, 5, 0, {{"conv.weight", 4, 0, 1}}});
  profile.layers.push_back({"fc", 1, 1, 2, 1, {{"fc.bias", 0.5, 1, 0}, {"fc.weight", 1, 1, 1}}});
  profile.backward = std::move(backward);
  profile.kernelless_backward = std::move(kernelless);
  return profile;
}

TEST(BackwardTime, WhereNoneWasMeasuredIsTheParts) {
  const BackwardTime time(profile({}));
  for (const double parts : {-1.0, 0.0, 0.3, 7.0, 12.0}) {
    EXPECT_EQ(time.seconds(parts, true), parts);
    EXPECT_EQ(time.seconds(parts, false), parts);
    EXPECT_EQ(time.parts(parts), parts);
  }
}

TEST(BackwardTime, OfAMeasuredPassIsAsMeasured) {
  const BackwardTime time(profile({{0.1, 1.5}, {0.5, 1.1}, {1, 1}}, {{0.1, 0.5}, {0.3, 0.9}}));
  EXPECT_DOUBLE_EQ(time.seconds(1, true), 1.5);
  EXPECT_DOUBLE_EQ(time.seconds(5, true), 5.5);
  EXPECT_DOUBLE_EQ(time.seconds(10, true), 10);
  EXPECT_DOUBLE_EQ(time.seconds(1, false), 0.5);
  EXPECT_DOUBLE_EQ(time.seconds(3, false), 2.7);
}

TEST(BackwardTime, BetweenMeasuredPassesIsInterpolated) {
  const BackwardTime time(profile({{0.1, 1.5}, {0.5, 1.1}, {0.8, 0.9}}, {{0.2, 0.5}}));
  EXPECT_DOUBLE_EQ(time.seconds(0.5, true), 0.75);  // less than any
  EXPECT_DOUBLE_EQ(time.seconds(3, true), 3.5);
  EXPECT_DOUBLE_EQ(time.seconds(10, true), 9);  // more than any
  EXPECT_DOUBLE_EQ(time.seconds(1, false), 0.5);
}

// There the kernel takes its own time more.
TEST(BackwardTime, OfMuchIsTheSameButForTheKernel) {
  const BackwardTime time(profile({{0.2, 2}, {0.5, 1.1}, {1, 1.2}}, {{0.1, 0.5}}));
  EXPECT_DOUBLE_EQ(time.seconds(1, false), 0.5);
  EXPECT_DOUBLE_EQ(time.seconds(3, false), 3.5);
  EXPECT_DOUBLE_EQ(time.seconds(8, false), 10);
  EXPECT_DOUBLE_EQ(time.seconds(2, false), 2);
}

TEST(BackwardTime, RisesWhateverWasMeasured) {
  const BackwardTime time(
      profile({{0.1, 9}, {0.5, 1}, {0.7, 0}, {1, 1}}, {{0.05, 2}, {0.3, 0.1}, {0.4, 1}}));
  EXPECT_DOUBLE_EQ(time.seconds(1, true), 1);  // as of what trains more
  EXPECT_DOUBLE_EQ(time.seconds(10, true), 10);
  for (const bool kernel : {true, false}) {
    double before = 0;
    for (double parts = 0.1; parts < 12; parts += 0.1) {
      const double seconds = time.seconds(parts, kernel);
      EXPECT_GT(seconds, before);
      before = seconds;
    }
  }
}

TEST(BackwardTime, PartsTakeNoLongerWithAndWithoutTheKernel) {
  using Passes = std::vector<BackwardTiming>;
  for (const Passes& kernelless : {Passes{{0.1, 0.5}, {0.3, 0.9}}, Passes{{0.1, 3}}, Passes{}}) {
    const BackwardTime time(profile({{0.1, 1.5}, {0.5, 1.1}, {1, 1}}, kernelless));
    for (double seconds = 0.1; seconds < 12; seconds += 0.1) {
      const double parts = time.parts(seconds);
      EXPECT_NEAR(std::max(time.seconds(parts, true), time.seconds(parts, false)), seconds, 1e-9);
    }
  }
}

}  // namespace
}  // namespace moil
