#include "daemon/schedule/conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/support/test_server.h"

namespace moil::daemon::test {
namespace {

TEST(NightWindow, WithinADay) {
  const Window window{60, 360};
  EXPECT_FALSE(window.contains(59));
  EXPECT_TRUE(window.contains(60));
  EXPECT_TRUE(window.contains(359));
  EXPECT_FALSE(window.contains(360));
}

TEST(NightWindow, AcrossMidnight) {
  const Window window{23 * 60, 5 * 60};
  EXPECT_TRUE(window.contains(23 * 60));
  EXPECT_TRUE(window.contains(0));
  EXPECT_TRUE(window.contains(299));
  EXPECT_FALSE(window.contains(300));
  EXPECT_FALSE(window.contains(720));
}

TEST(NightWindow, TheSameTimeTwiceIsTheWholeDay) {
  const Window window{90, 90};
  for (const int minute : {0, 89, 90, 1439}) EXPECT_TRUE(window.contains(minute));
}

TEST(TimeOfDayText, ReadsAndRefuses) {
  EXPECT_EQ(parse_time_of_day("00:00"), 0);
  EXPECT_EQ(parse_time_of_day("23:59"), 1439);
  for (const char* bad : {"", "1:00", "24:00", "12:60", "ab:cd", "12-30", "12:300", "-1:00"}) {
    EXPECT_FALSE(parse_time_of_day(bad)) << bad;
  }
  EXPECT_EQ(time_of_day(65), "01:05");
}

class Judge : public testing::Test {
 protected:
  std::string reason(bool running = false) const {
    const Verdict verdict = judge(Window{60, 360}, Conditions(), world_, running);
    EXPECT_EQ(verdict.open, verdict.reason.empty());
    return verdict.reason;
  }
  FakeWorld world_;
};

TEST_F(Judge, OpenWhereAllIsWell) { EXPECT_EQ(reason(), ""); }

TEST_F(Judge, SaysWhyNot) {
  world_.load = 0.9;
  EXPECT_THAT(reason(), testing::HasSubstr("busy"));
  world_.temperature = 90;
  EXPECT_THAT(reason(), testing::HasSubstr("hot"));
  world_.on_mains = false;
  EXPECT_EQ(reason(), "on battery power");
  world_.minute = 0;
  EXPECT_EQ(reason(), "outside the window 01:00-06:00");
}

TEST_F(Judge, NamesTheFigures) {
  world_.load = 0.507;
  EXPECT_EQ(reason(), "the device is busy (load 0.51 per CPU; 0.50 is allowed)");
  world_.temperature = 120;
  EXPECT_EQ(reason(), "the device is hot (120 C; 75 C are allowed)");
  const Verdict verdict = judge(Window{60, 360}, Conditions(), world_, false);
  EXPECT_EQ(verdict.obstacle, Obstacle::kTemperature);
  EXPECT_EQ(verdict.found, 120);
  EXPECT_EQ(verdict.allowed, 75);
}

TEST_F(Judge, TheLoadOfARunningWorkerDoesNotStopIt) {
  world_.load = 5;
  EXPECT_EQ(reason(true), "");
}

}  // namespace
}  // namespace moil::daemon::test
