#include "engine/elastic/backward_time.h"

#include <gtest/gtest.h>

namespace moil {
namespace {

// Its parts add up to 10 s.
TimingProfile profile(std::vector<TailTiming> tails) {
  TimingProfile profile;
  profile.layers.push_back({"fc", 1, 3, 5, 4, {{"fc.weight", 5, 3, 1}}});
  profile.tails = std::move(tails);
  return profile;
}

TEST(BackwardTime, WithoutTailsIsTheParts) {
  const BackwardTime time(profile({}));
  for (const double parts : {-1.0, 0.0, 0.3, 7.0, 12.0}) {
    EXPECT_EQ(time.seconds(parts), parts);
    EXPECT_EQ(time.parts(parts), parts);
  }
}

TEST(BackwardTime, OfATailIsAsMeasured) {
  const BackwardTime time(profile({{0.1, 1.5}, {0.5, 1.1}, {1, 1}}));
  EXPECT_DOUBLE_EQ(time.seconds(1), 1.5);
  EXPECT_DOUBLE_EQ(time.seconds(5), 5.5);
  EXPECT_DOUBLE_EQ(time.seconds(10), 10);
}

TEST(BackwardTime, BetweenTailsIsInterpolated) {
  const BackwardTime time(profile({{0.1, 1.5}, {0.5, 1.1}, {0.8, 0.9}}));
  EXPECT_DOUBLE_EQ(time.seconds(0.5), 0.75);  // less than any
  EXPECT_DOUBLE_EQ(time.seconds(3), 3.5);
  EXPECT_DOUBLE_EQ(time.seconds(10), 9);  // more than any
}

TEST(BackwardTime, RisesWhateverWasMeasured) {
  const BackwardTime time(profile({{0.1, 9}, {0.5, 1}, {0.7, 0}, {1, 1}}));
  EXPECT_DOUBLE_EQ(time.seconds(1), 9);
  double before = 0;
  for (double parts = 0.1; parts < 12; parts += 0.1) {
    const double seconds = time.seconds(parts);
    EXPECT_GT(seconds, before);
    EXPECT_NEAR(time.parts(seconds), parts, 1e-9);
    before = seconds;
  }
}

}  // namespace
}  // namespace moil
