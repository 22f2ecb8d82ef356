#include "daemon/schedule/conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/schedule/pressure.h"
#include "tests/daemon/support/test_server.h"

namespace moil::daemon::test {
namespace {

class Judge : public ::testing::Test {
 protected:
  std::string reason(bool running = false) const {
    const Verdict verdict = judge(Window{60, 360}, conditions_, world_, running);
    EXPECT_EQ(verdict.open, verdict.reason.empty());
    return verdict.reason;
  }
  FakeWorld world_;
  Conditions conditions_;
};

TEST_F(Judge, OpenWhereAllIsWell) { EXPECT_EQ(reason(), ""); }

TEST_F(Judge, SaysWhyNot) {
  world_.load = 0.9;
  EXPECT_THAT(reason(), ::testing::HasSubstr("busy"));
  world_.temperature = 90;
  EXPECT_THAT(reason(), ::testing::HasSubstr("hot"));
  world_.on_mains = false;
  EXPECT_EQ(reason(), "on battery power");
  world_.minute = 0;
  EXPECT_EQ(reason(), "outside the window 01:00-06:00");
}

TEST_F(Judge, NamesTheFigures) {
  world_.load = 0.507;
  EXPECT_EQ(reason(), "the device is busy (load 0.51 per CPU; 0.50 is allowed)");
  world_.temperature = 120;
  EXPECT_EQ(reason(true), "the device is hot (120 C; 75 C are allowed)");
  const Verdict verdict = judge(Window{60, 360}, Conditions(), world_, false);
  EXPECT_EQ(verdict.obstacle, Obstacle::kTemperature);
  EXPECT_EQ(verdict.found, 120);
  EXPECT_EQ(verdict.allowed, 70) << "a job will warm it up";
}

TEST_F(Judge, AJobStartsOnlyWhereItIsCooler) {
  world_.temperature = 72;
  EXPECT_EQ(reason(), "the device is hot (72 C; 70 C are allowed)");
  EXPECT_EQ(reason(true), "");
}

TEST_F(Judge, WorkThatWaitsForMemoryOrADiskKeepsAJobFromStarting) {
  world_.io_pressure = 0.42;
  EXPECT_EQ(reason(), "work waits for the disk (42% of the last minute; 30% are allowed)");
  world_.memory_pressure = 0.12;
  EXPECT_EQ(reason(), "work waits for memory (12% of the last minute; 10% are allowed)");
  EXPECT_EQ(reason(true), "") << "it may be its own";
}

TEST_F(Judge, UsersMatterWhereThatIsAskedFor) {
  world_.user_idle_minutes = 0;
  EXPECT_EQ(reason(), "");
  conditions_.user_idle_minutes = 15;
  EXPECT_THAT(reason(), ::testing::HasSubstr("in use"));
  EXPECT_THAT(reason(true), ::testing::HasSubstr("in use")) << "it makes way";
  world_.user_idle_minutes = 16;
  EXPECT_EQ(reason(), "");
}

TEST_F(Judge, NamesTheDayOfAWindowThatIsFarAway) {
  Nights nights(Window{60, 360});
  for (const int day : {4, 5}) nights.set(day, std::nullopt);
  world_.minute = 600;  // of a Wednesday
  EXPECT_EQ(judge(nights, Conditions(), world_, false).reason,
            "outside the window 01:00-06:00 of Saturday");
  nights.set(4, Window{0, 60});
  EXPECT_EQ(judge(nights, Conditions(), world_, false).reason, "outside the window 00:00-01:00");
}

TEST(Pressure, IsTheShareOfTheLastMinute) {
  EXPECT_EQ(parse_pressure("some avg10=1.00 avg60=25.50 avg300=0.10 total=123\n"
                           "full avg10=0.00 avg60=3.00 avg300=0.00 total=1\n"),
            0.255);
  for (const char* bad : {"", "full avg10=0 avg60=1", "some avg10=1.00", "some avg60=x",
                          "some avg60=nan", "some avg60=-1", "some\nfull avg60=1.00"})
    EXPECT_FALSE(parse_pressure(bad)) << bad;
}

TEST_F(Judge, TheLoadOfARunningWorkerDoesNotStopIt) {
  world_.load = 5;
  EXPECT_EQ(reason(true), "");
}

}  // namespace
}  // namespace moil::daemon::test
