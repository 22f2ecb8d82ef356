// What the device tells, from a made-up /sys and /proc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <ctime>
#include <fstream>

#include "daemon/schedule/conditions.h"
#include "tests/daemon/support/test_server.h"

namespace moil::daemon::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Device : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    const auto path = root_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  void write_more(const std::string& file, const std::string& text) const {
    std::ofstream(root_.path() / file, std::ios::app) << text;
  }
  void supply(const std::string& name, const std::string& type, const std::string& online) const {
    write("sys/class/power_supply/" + name + "/type", type);
    write("sys/class/power_supply/" + name + "/online", online);
  }
  void battery(const std::string& name, const std::string& status, int percent = 62) const {
    const std::string folder = "sys/class/power_supply/" + name + "/";
    write(folder + "type", "Battery");
    write(folder + "present", "1");
    write(folder + "status", status);
    write(folder + "capacity", std::to_string(percent));
  }
  void zone(int number, const std::string& type, int thousandths) const {
    const std::string folder = "sys/class/thermal/thermal_zone" + std::to_string(number) + "/";
    write(folder + "type", type);
    write(folder + "temp", std::to_string(thousandths));
  }
  // Two CPUs' ticks since the start.
  void cpu(int user, int nice, int system, int idle) const {
    std::string text = "cpu ";
    for (const int ticks : {user, nice, system, idle}) text += " " + std::to_string(ticks);
    write("proc/stat", text + " 0 0 0 0 0 0\ncpu0 0 0 0 0\ncpu1 0 0 0 0\nintr 5\n");
  }

  TempFolder root_;
  LinuxWorld world_{root_.path()};
};

TEST_F(Device, OneThatTellsNothingIsTakenAsOnMains) {
  const DeviceReading reading = world_.device();
  EXPECT_FALSE(reading.on_mains || reading.battery || reading.load_per_cpu ||
               reading.temperature_c);
  EXPECT_TRUE(judge(Window{0, 0}, Conditions(), world_, false).open);
}

TEST_F(Device, ADischargingBatteryIsNoMains) {
  battery("BAT0", "Discharging");
  supply("AC", "Mains", "0");
  EXPECT_EQ(world_.device().on_mains, false);
  EXPECT_DOUBLE_EQ(world_.device().battery.value(), 0.62);
}

TEST_F(Device, EverySupplyThatFeedsCounts) {
  battery("BAT0", "Discharging");  // slower than it is used
  for (const char* type : {"Mains", "USB", "USB_PD", "Wireless", "BrickID"}) {
    supply("feed", type, "0");
    EXPECT_EQ(world_.device().on_mains, false) << type;
    for (const char* online : {"1", "2"}) {  // 2: programmable, as fast chargers say
      supply("feed", type, online);
      EXPECT_EQ(world_.device().on_mains, true) << type << " " << online;
    }
  }
}

TEST_F(Device, ABatteryThatIsFedTellsOfTheMains) {
  for (const char* status : {"Charging", "Full", "Not charging"}) {
    battery("BAT0", status);
    EXPECT_EQ(world_.device().on_mains, true) << status;
  }
  battery("BAT0", "Unknown");
  EXPECT_EQ(world_.device().on_mains, false);
  battery("BAT0", "Not charging");
  battery("BAT1", "Discharging");
  EXPECT_EQ(world_.device().on_mains, false) << "the second of two is what feeds";
}

// Just unplugged, a battery still says that it is full; a charger that is not listed charges.
TEST_F(Device, AMainsSupplyThatIsListedKnowsBetterThanAFullBattery) {
  supply("AC", "Mains", "0");
  battery("BAT0", "Full");
  EXPECT_EQ(world_.device().on_mains, false);
  battery("BAT0", "Charging");
  EXPECT_EQ(world_.device().on_mains, true);
}

TEST_F(Device, WithoutABatteryItIsFedWhateverTheSuppliesSay) {
  supply("ucsi", "USB", "0");
  EXPECT_EQ(world_.device().on_mains, true);
}

TEST_F(Device, BatteriesOfOthersAndEmptySlotsDoNotCount) {
  battery("mouse", "Discharging", 4);
  write("sys/class/power_supply/mouse/scope", "Device");
  battery("BAT1", "Unknown", 3);
  write("sys/class/power_supply/BAT1/present", "0");
  const DeviceReading reading = world_.device();
  EXPECT_FALSE(reading.on_mains.has_value());
  EXPECT_FALSE(reading.battery.has_value());
}

TEST_F(Device, ABatteryWithoutAPercentageIsWorkedOut) {
  battery("BAT0", "Discharging");
  std::filesystem::remove(root_ / "sys/class/power_supply/BAT0/capacity");
  write("sys/class/power_supply/BAT0/charge_now", "1500");
  write("sys/class/power_supply/BAT0/charge_full", "2000");
  EXPECT_DOUBLE_EQ(world_.device().battery.value(), 0.75);
}

TEST_F(Device, TheHottestZoneCountsAndIsNamed) {
  zone(0, "acpitz", 41000);
  zone(1, "x86_pkg_temp", 55500);
  write("sys/class/thermal/cooling_device0/temp", "99000");
  const DeviceReading reading = world_.device();
  EXPECT_DOUBLE_EQ(reading.temperature_c.value(), 55.5);
  EXPECT_EQ(reading.hottest, "x86_pkg_temp");
  EXPECT_THAT(reading.ignored, IsEmpty());
}

TEST_F(Device, ImpossibleTemperaturesBlockNothingAndAreNamed) {
  zone(0, "cpu", 41000);
  zone(1, "broken", 200000);
  zone(2, "absent", -274000);
  zone(3, "stuck", 105000);
  write("sys/class/thermal/thermal_zone3/trip_point_0_type", "passive");
  write("sys/class/thermal/thermal_zone3/trip_point_0_temp", "80000");
  write("sys/class/thermal/thermal_zone3/trip_point_1_type", "critical");
  write("sys/class/thermal/thermal_zone3/trip_point_1_temp", "100000");
  const DeviceReading reading = world_.device();
  EXPECT_DOUBLE_EQ(reading.temperature_c.value(), 41);
  EXPECT_THAT(reading.ignored, ElementsAre("thermal_zone1 says 200 C", "thermal_zone2 says -274 C",
                                           "thermal_zone3 says 105 C"));
  EXPECT_TRUE(judge(Window{0, 0}, Conditions(), world_, false).open);
  zone(3, "hot", 99000);
  EXPECT_THAT(judge(Window{0, 0}, Conditions(), world_, false).reason,
              ::testing::HasSubstr("hot 99 C"));
}

TEST_F(Device, LoadIsWhatOthersTakeOfTheLastMinute) {
  cpu(1000, 0, 0, 9000);
  world_.device();
  cpu(1400, 0, 200, 9400);  // five seconds of two CPUs, six tenths of them in use
  EXPECT_DOUBLE_EQ(world_.device().load_per_cpu.value(), 0.6);
  for (int second = 1; second <= 120; ++second) {
    cpu(1400, 0, 200, 9400 + 200 * second);
    world_.device();
  }
  EXPECT_DOUBLE_EQ(world_.device().load_per_cpu.value(), 0) << "the minute before is over";
}

// The kernel's load average counts what waits for a dead mount, for ever.
TEST_F(Device, InTheFirstSecondsLoadIsWhatRunsNowAndNotWhatWaits) {
  write("proc/loadavg", "9.00 9.00 9.00 1/200 300");
  cpu(1000, 0, 0, 9000);
  write_more("proc/stat", "procs_running 1\nprocs_blocked 9\n");
  EXPECT_DOUBLE_EQ(world_.device().load_per_cpu.value(), 0) << "only the one that looks";
  cpu(1000, 0, 0, 9000);
  write_more("proc/stat", "procs_running 2\n");
  EXPECT_DOUBLE_EQ(world_.device().load_per_cpu.value(), 0.5);
  cpu(1000, 0, 0, 9000);
  write_more("proc/stat", "procs_running 9\n");
  EXPECT_DOUBLE_EQ(world_.device().load_per_cpu.value(), 1);
}

// With a clock that the test moves on.
class TimedWorld : public LinuxWorld {
 public:
  using LinuxWorld::LinuxWorld;
  std::int64_t ahead = 0;
  std::int64_t steady_milliseconds() const override {
    return LinuxWorld::steady_milliseconds() + ahead;
  }
};

class DeviceDisks : public Device {
 protected:
  void pressure(const char* percent) const {
    write("proc/pressure/io", std::string("some avg10=0.00 avg60=") + percent +
                                  " avg300=0.00 total=1\nfull avg10=0.00 avg60=" + percent +
                                  " avg300=0.00 total=1");
  }
  // What has been done by one disk, how long it was busy for that, and what is under way.
  static std::string disk(const std::string& name, int done, int busy, int under_way = 0) {
    return "   8  0 " + name + " " + std::to_string(done) + " 0 0 0 0 0 0 0 " +
           std::to_string(under_way) + " " + std::to_string(busy) + " 0 0 0 0 0 0 0\n";
  }
  // The pressure that counts, after a minute in which the disks went from `before` to `after`.
  double after_a_minute(const std::string& before, const std::string& after) {
    write("proc/diskstats", before);
    TimedWorld world(root_.path());
    world.ahead = 60'000;
    write("proc/diskstats", after);
    return world.device().io_pressure.value();
  }
};

// Whoever waits for a network or FUSE mount that is gone waits for ever: nights would never come.
TEST_F(DeviceDisks, WhoWaitsForAMountThatIsGoneHoldsNothingBack) {
  pressure("95.00");
  EXPECT_DOUBLE_EQ(after_a_minute(disk("sda", 100, 500), disk("sda", 100, 500)), 0);
  EXPECT_NEAR(after_a_minute(disk("sda", 100, 500), disk("sda", 160, 3500)), 0.05, 0.001);
  TimedWorld first(root_.path());
  EXPECT_DOUBLE_EQ(first.device().io_pressure.value(), 0) << "nothing is under way";
  EXPECT_TRUE(judge(Window{0, 0}, Conditions(), first, false).open);
}

TEST_F(DeviceDisks, WorkThatWaitsForABusyDiskCountsAsThePressureSays) {
  pressure("40.00");
  EXPECT_NEAR(after_a_minute(disk("sda", 100, 500) + disk("mmcblk0", 5, 5),
                             disk("sda", 100, 500) + disk("mmcblk0", 9000, 58'005)),
              0.4, 0.001);
  write("proc/diskstats", disk("sda", 100, 500, 3));
  TimedWorld first(root_.path());
  EXPECT_DOUBLE_EQ(first.device().io_pressure.value(), 0.4) << "nothing is measured yet";
  pressure("0.00");
  EXPECT_DOUBLE_EQ(after_a_minute(disk("sda", 1, 0), disk("sda", 9000, 60'000)), 0)
      << "a disk that is busy while nobody waits";
}

TEST_F(DeviceDisks, WhatIsNoDiskOfThisDeviceOrDeadIsNotBusy) {
  pressure("95.00");
  for (const char* name : {"loop0", "ram1", "zram0", "dm-3", "md0", "nbd0", "rbd1", "sr0"})
    EXPECT_DOUBLE_EQ(after_a_minute(disk(name, 100, 0), disk(name, 900, 60'000)), 0) << name;
  EXPECT_DOUBLE_EQ(after_a_minute(disk("sda", 100, 0), disk("sda", 100, 60'000, 1)), 0)
      << "a request that never ends";
  EXPECT_DOUBLE_EQ(after_a_minute("", ""), 0.95) << "without counters the pressure alone counts";
}

TEST(DiskTicks, WhatIsNotUnderstoodIsNothing) {
  EXPECT_FALSE(parse_disk_ticks(""));
  EXPECT_FALSE(parse_disk_ticks("8 0 sda 1 2 3\n"));
  EXPECT_FALSE(parse_disk_ticks("nonsense\n"));
  const auto old =
      parse_disk_ticks("8 0 sda 7 0 0 0 3 0 0 0 1 250 0\n");  // of a kernel before 4.18
  ASSERT_TRUE(old && old->size() == 1);
  EXPECT_EQ(old->front().done, 10U);
  EXPECT_EQ(old->front().busy_milliseconds, 250U);
  EXPECT_EQ(old->front().under_way, 1U);
}

TEST_F(Device, NicedWorkIsNoLoad) {
  cpu(0, 0, 0, 0);
  world_.device();
  cpu(100, 1900, 0, 0);  // a worker on every CPU for ten seconds
  EXPECT_DOUBLE_EQ(world_.device().load_per_cpu.value(), 0.05);
}

TEST_F(Device, ACountThatGoesBackBeginsAnew) {
  cpu(1000, 0, 0, 1000);
  world_.device();
  cpu(10, 0, 0, 10);
  world_.device();
  cpu(10, 0, 0, 2010);
  EXPECT_DOUBLE_EQ(world_.device().load_per_cpu.value(), 0);
}

class TimeZone : public ::testing::Test {
 protected:
  TimeZone() {
    if (const char* zone = ::getenv("TZ")) before_ = zone;
  }
  ~TimeZone() override {
    before_ ? ::setenv("TZ", before_->c_str(), 1) : ::unsetenv("TZ");
    ::tzset();
  }
  std::optional<std::string> before_;
};

TEST_F(TimeZone, AChangeIsNoticedAtTheNextLook) {
  const LinuxWorld world;
  ::setenv("TZ", "AAA-5", 1);
  const int east = world.local_time().minute;
  ::setenv("TZ", "BBB+4", 1);
  const int west = world.local_time().minute;
  EXPECT_NEAR((east - west + 1440) % 1440, 9 * 60, 1);
}

}  // namespace
}  // namespace moil::daemon::test
