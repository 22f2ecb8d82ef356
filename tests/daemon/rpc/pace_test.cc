// How fast a client's requests are taken.
#include "daemon/rpc/pace.h"

#include <gtest/gtest.h>

using namespace std::chrono_literals;

namespace moil::daemon {
namespace {

const Pace::Clock::time_point kStart{};

TEST(Pace, SomeAreTakenAtOnceAndThenEvenly) {
  Pace pace(10, kStart);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(pace.pause(kStart), 0ms) << i;
    pace.take(1, kStart);
  }
  EXPECT_EQ(pace.pause(kStart), 100ms);
  EXPECT_EQ(pace.pause(kStart + 60ms), 40ms);
  EXPECT_EQ(pace.pause(kStart + 100ms), 0ms);
  pace.take(1, kStart + 100ms);
  EXPECT_EQ(pace.pause(kStart + 100ms), 100ms);
}

TEST(Pace, ManyAtOnceAreOwedAfterwards) {
  Pace pace(10, kStart);
  pace.take(30, kStart);
  EXPECT_EQ(pace.pause(kStart), 2900ms);
}

TEST(Pace, AQuietTimeGivesNoMore) {
  Pace pace(10, kStart);
  pace.take(2, kStart + 1h);
  EXPECT_EQ(pace.pause(kStart + 1h), 100ms);
}

TEST(Pace, LessThanOneASecond) {
  Pace pace(0.5, kStart);
  EXPECT_EQ(pace.pause(kStart), 0ms);
  pace.take(1, kStart);
  EXPECT_EQ(pace.pause(kStart), 2000ms);
}

}  // namespace
}  // namespace moil::daemon
