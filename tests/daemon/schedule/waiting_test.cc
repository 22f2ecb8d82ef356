// What holds the queue and for how long: on a made-up clock and a made-up disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "daemon/jobs/queue_hold.h"
#include "daemon/schedule/wait_log.h"
#include "daemon/state/disk_reserve.h"
#include "daemon/state/lost_nights.h"
#include "tests/daemon/support/test_server.h"

namespace moil::daemon::test {
namespace {

// Stands still but for what the test lets go by.
class StillWorld : public FakeWorld {
 public:
  std::int64_t now_milliseconds() const override { return 1'000'000 + clock_ahead; }
  std::int64_t steady_milliseconds() const override { return steady_ahead; }
};

class Hold : public ::testing::Test {
 protected:
  void fail(QueueHold::Cause cause = QueueHold::Cause::kStart) {
    hold_.again(cause, "why", {5, 60});
  }
  StillWorld world_;
  QueueHold hold_{world_, "/"};
};

TEST_F(Hold, WaitsDoubleUpToALimit) {
  EXPECT_FALSE(hold_.holds());
  EXPECT_FALSE(hold_.told());
  for (const int seconds : {5, 10, 20, 40, 60, 60}) {
    fail();
    EXPECT_EQ(hold_.told()->retry_seconds, seconds);
    world_.steady_ahead += 1000 * seconds - 1;
    EXPECT_TRUE(hold_.holds());
    world_.steady_ahead += 1;
    EXPECT_FALSE(hold_.holds());
  }
  EXPECT_EQ(hold_.told()->why, "why");
  EXPECT_EQ(hold_.told()->since, 1'000'000);
  EXPECT_EQ(hold_.told()->seconds, 195);
  hold_.clear();
  fail();
  EXPECT_EQ(hold_.told()->retry_seconds, 5);
}

TEST_F(Hold, TheClockOnTheWallDoesNotCount) {
  world_.clock_ahead = std::int64_t{72} * 365 * 86400 * 1000;
  fail();
  world_.clock_ahead = 0;
  EXPECT_TRUE(hold_.holds());
  world_.steady_ahead = 5000;
  EXPECT_FALSE(hold_.holds());
}

TEST_F(Hold, MoreRoomEndsAWaitForRoomAndNoOther) {
  world_.free = 100 << 20;
  fail(QueueHold::Cause::kRoom);
  world_.free = 101 << 20;
  EXPECT_TRUE(hold_.holds()) << "as much comes and goes";
  world_.free = 104 << 20;
  EXPECT_FALSE(hold_.holds());
  fail(QueueHold::Cause::kStart);
  world_.free = 900 << 20;
  EXPECT_TRUE(hold_.holds());
}

class Waits : public ::testing::Test {
 protected:
  static Verdict busy(double load) { return {false, "busy", Obstacle::kLoad, load, 0.5}; }
  // At the next look, five seconds later.
  void look(const Verdict& verdict) { log_.look(verdict, now_ += 5000, 15000); }
  WaitLog log_;
  std::int64_t now_ = 0;
};

TEST_F(Waits, SayForWhatHowLongAndWithWhatFigures) {
  for (const double load : {0.9, 0.51, 0.7}) look(busy(load));
  look({false, "on battery power", Obstacle::kMains});
  look({false, "on battery power", Obstacle::kMains});
  ASSERT_EQ(log_.waited().size(), 2U);
  const Waited& load = log_.waited().at(Obstacle::kLoad);
  EXPECT_EQ(load.milliseconds, 15000);
  EXPECT_EQ(load.nearest, 0.51);
  EXPECT_EQ(load.allowed, 0.5);
  EXPECT_EQ(log_.waited().at(Obstacle::kMains).milliseconds, 5000);
  EXPECT_FALSE(log_.waited().at(Obstacle::kMains).nearest);
}

TEST_F(Waits, StayToBeReadByDayAndBeginAnewInTheNextNight) {
  const Verdict day{false, "outside", Obstacle::kWindow};
  look(day);
  EXPECT_TRUE(log_.waited().empty());
  look(busy(0.8));
  look(busy(0.8));
  look(day);
  look(day);
  EXPECT_EQ(log_.waited().at(Obstacle::kLoad).milliseconds, 10000);
  look(busy(0.9));
  EXPECT_EQ(log_.waited().at(Obstacle::kLoad).milliseconds, 0);
  EXPECT_EQ(log_.waited().at(Obstacle::kLoad).nearest, 0.9);
}

TEST_F(Waits, NightsWithoutAStartAreCountedWithWhatWasLongestInTheWay) {
  const Verdict day{false, "outside", Obstacle::kWindow};
  for (int night = 1; night <= 7; ++night) {
    look({false, "work waits for the disk", Obstacle::kIo, 0.95, 0.3});
    look({false, "work waits for the disk", Obstacle::kIo, 0.95, 0.3});
    look(busy(0.9));
    look(day);
    EXPECT_EQ(log_.lost().count, night);
  }
  EXPECT_EQ(log_.lost().cause(), Obstacle::kIo);
  EXPECT_EQ(log_.waited().at(Obstacle::kIo).says, "work waits for the disk");
  const TempFolder folder;
  write_lost_nights(folder / "lost", log_.lost());
  EXPECT_EQ(read_lost_nights(folder / "lost"), log_.lost()) << "a restart forgets none";
  log_.clear();
  EXPECT_EQ(log_.lost(), LostNights());
  write_lost_nights(folder / "lost", log_.lost());
  EXPECT_FALSE(std::filesystem::exists(folder / "lost"));
  std::ofstream(folder / "lost") << "{\"nights\": \"x\"";
  EXPECT_EQ(read_lost_nights(folder / "lost"), LostNights());
}

TEST_F(Waits, ADeviceThatSleptDidNotWait) {
  look(busy(0.8));
  now_ += 8 * 3600 * 1000;
  look(busy(0.8));
  EXPECT_EQ(log_.waited().at(Obstacle::kLoad).milliseconds, 15000);
}

class Reserve : public ::testing::Test {
 protected:
  std::uint64_t on_disk() const {
    return std::filesystem::exists(file_) ? std::filesystem::file_size(file_) : 0;
  }
  TempFolder folder_;
  std::filesystem::path file_ = folder_ / "reserve";
};

TEST_F(Reserve, IsGivenUpForADeletionOnAFullDiskAndTakenAgain) {
  DiskReserve reserve(file_, 2 << 20);
  EXPECT_EQ(reserve.held(), std::uint64_t{2 << 20});
  EXPECT_EQ(on_disk(), std::uint64_t{2 << 20});
  std::vector<std::uint64_t> seen;
  const int answer = reserve.for_deletion([&] {
    seen.push_back(on_disk());
    if (seen.size() == 1) throw DiskFull("no byte free");
    return 42;
  });
  EXPECT_EQ(answer, 42);
  EXPECT_THAT(seen, ::testing::ElementsAre(2 << 20, 0));
  EXPECT_EQ(on_disk(), std::uint64_t{2 << 20});
}

TEST_F(Reserve, ARecordTakesAPartOfIt) {
  DiskReserve reserve(file_, 3 << 20);
  std::vector<std::uint64_t> seen;
  reserve.for_record([&] {
    seen.push_back(on_disk());
    if (seen.size() == 1) throw DiskFull("no byte free");
  });
  EXPECT_THAT(seen, ::testing::ElementsAre(3 << 20, 2 << 20));
}

TEST_F(Reserve, OtherErrorsCostNothing) {
  DiskReserve reserve(file_, 2 << 20);
  int runs = 0;
  EXPECT_THROW(reserve.for_deletion([&] {
    ++runs;
    throw Error(ErrorCode::kNotFound, "no such sample");
  }),
               Error);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(reserve.held(), std::uint64_t{2 << 20});
}

TEST_F(Reserve, WithoutOneTheErrorIsTold) {
  DiskReserve reserve(file_, 0);
  EXPECT_THROW(reserve.for_deletion([] { throw DiskFull("no byte free"); }), DiskFull);
}

TEST(FullDatabase, IsToldFromOtherTroubles) {
  const TempFolder folder;
  Database database(folder / "small.db", Database::Access::kReadWrite);
  database.run("PRAGMA max_page_count = 8; CREATE TABLE t (x)");
  EXPECT_THROW(database.run("INSERT INTO t VALUES (zeroblob(100000))"), DiskFull);
  try {
    database.run("SELECT nothing FROM nowhere");
    FAIL();
  } catch (const DiskFull&) {
    FAIL();
  } catch (const Error&) {
  }
}

}  // namespace
}  // namespace moil::daemon::test
