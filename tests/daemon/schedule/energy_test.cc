// What the device takes, from a made-up /sys.
#include "daemon/schedule/energy.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/daemon/support/test_server.h"

namespace moil::daemon::test {
namespace {

namespace fs = std::filesystem;

class EnergyMeters : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    const fs::path path = root_ / ("sys/class/" + file);
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  void zone(const std::string& folder, const std::string& name, double joules) const {
    write("powercap/" + folder + "/name", name);
    write("powercap/" + folder + "/max_energy_range_uj", "262143328850");
    count(folder, joules);
  }
  void count(const std::string& folder, double joules) const {
    write("powercap/" + folder + "/energy_uj", std::to_string(std::llround(joules * 1e6)));
  }
  void battery(const std::string& name, const std::string& status, const std::string& power) const {
    write("power_supply/" + name + "/type", "Battery");
    write("power_supply/" + name + "/status", status);
    write("power_supply/" + name + "/power_now", power);
  }
  void expect(double joules, const std::string& source) const {
    const auto energy = meter_.energy();
    ASSERT_TRUE(energy.has_value());
    EXPECT_NEAR(energy->joules, joules, 1e-6);
    EXPECT_EQ(energy->source, source);
  }

  TempFolder root_;
  EnergyMeter meter_{root_.path()};
};

TEST_F(EnergyMeters, WhereNothingTellsItIsNotKnown) {
  EXPECT_FALSE(meter_.energy());
  meter_.sample(0);
  meter_.sample(5);
  EXPECT_FALSE(meter_.energy());
}

TEST_F(EnergyMeters, CountsFromTheFirstSampleToTheLast) {
  zone("intel-rapl:0", "package-0", 1000);
  write("powercap/intel-rapl/enabled", "1");
  meter_.sample(100);
  expect(0, "processor package");
  count("intel-rapl:0", 1050);
  meter_.sample(105);
  count("intel-rapl:0", 1062.5);
  meter_.sample(110);
  count("intel-rapl:0", 1200);
  expect(62.5, "processor package");
}

// A package has zones inside it, and may be told of by two interfaces.
TEST_F(EnergyMeters, AddsUpPackagesAndNothingTwice) {
  for (const char* folder : {"intel-rapl:0", "intel-rapl-mmio:0"}) zone(folder, "package-0", 10);
  zone("intel-rapl:1", "package-1", 20);
  zone("intel-rapl:0:0", "core", 5);
  zone("intel-rapl:0:1", "dram", 5);
  meter_.sample(0);
  for (const char* folder : {"intel-rapl:0", "intel-rapl-mmio:0"}) count(folder, 13);
  count("intel-rapl:1", 24);
  count("intel-rapl:0:0", 7);
  count("intel-rapl:0:1", 7);
  meter_.sample(5);
  expect(7, "processor packages");
}

TEST_F(EnergyMeters, TheWholeMachineCountsAlone) {
  zone("intel-rapl:0", "package-0", 0);
  zone("intel-rapl:1", "psys", 0);
  meter_.sample(0);
  count("intel-rapl:0", 30);
  count("intel-rapl:1", 50);
  meter_.sample(5);
  expect(50, "whole machine");
}

TEST_F(EnergyMeters, AMachineThatTakesLessThanItsProcessorIsNotBelieved) {
  zone("intel-rapl:0", "package-0", 0);
  zone("intel-rapl:1", "psys", 7);  // stands still, as a zone that nothing is wired to
  meter_.sample(0);
  count("intel-rapl:0", 30);
  meter_.sample(5);
  expect(30, "processor package");
}

TEST_F(EnergyMeters, CountersWrap) {
  zone("intel-rapl:0", "package-0", 262143);
  meter_.sample(0);
  count("intel-rapl:0", 40);
  meter_.sample(5);
  expect(40.32885, "processor package");
}

TEST_F(EnergyMeters, WhatCannotBeReadIsNotThere) {
  write("powercap/intel-rapl:0/name", "package-0");
  fs::create_directories(root_ / "sys/class/powercap/intel-rapl:0/energy_uj");
  meter_.sample(0);
  EXPECT_FALSE(meter_.energy());
}

TEST_F(EnergyMeters, ACounterThatVanishesLeavesNothingKnown) {
  zone("intel-rapl:0", "package-0", 0);
  battery("BAT0", "Discharging", "10000000");
  meter_.sample(0);
  fs::remove_all(root_ / "sys/class/powercap/intel-rapl:0");
  meter_.sample(5);
  EXPECT_FALSE(meter_.energy());
  zone("intel-rapl:0", "package-0", 10);
  meter_.sample(10);
  EXPECT_FALSE(meter_.energy()) << "nobody counted in between";
}

TEST_F(EnergyMeters, WhatCannotBeIsNotKnown) {
  for (const auto& [before, after] : {std::pair{100.0, -1.0},  // no count
                                      {100.0, 100'000.0},      // 20 kW
                                      {100'000.0, 10.0}}) {    // it was reset
    zone("intel-rapl:0", "package-0", before);
    EnergyMeter meter(root_.path());
    meter.sample(0);
    ASSERT_TRUE(meter.energy());
    count("intel-rapl:0", after);
    meter.sample(5);
    EXPECT_FALSE(meter.energy()) << before << " " << after;
  }
}

TEST_F(EnergyMeters, ACounterThatStandsStillCountsNothing) {
  zone("intel-rapl:0", "package-0", 100);
  meter_.sample(0);
  meter_.sample(5);
  EXPECT_TRUE(meter_.energy());
  meter_.sample(15);
  EXPECT_FALSE(meter_.energy());
}

TEST_F(EnergyMeters, ADeviceThatSleptIsNotKnown) {
  zone("intel-rapl:0", "package-0", 100);
  meter_.sample(0);
  count("intel-rapl:0", 130);
  meter_.sample(3600);
  EXPECT_FALSE(meter_.energy());
}

TEST_F(EnergyMeters, ABatteryThatFeedsIsAddedUpByItsPower) {
  battery("BAT0", "Discharging", "10000000");
  meter_.sample(0);
  battery("BAT0", "Discharging", "20000000");
  meter_.sample(10);
  battery("BAT0", "Discharging", "-20000000");  // some drivers say so
  meter_.sample(15);
  expect(250, "battery");
}

TEST_F(EnergyMeters, ABatteryMayTellItsCurrent) {
  battery("BAT0", "Discharging", "");
  write("power_supply/BAT0/current_now", "-1500000");
  write("power_supply/BAT0/voltage_now", "8000000");
  meter_.sample(0);
  meter_.sample(10);
  expect(120, "battery");
}

TEST_F(EnergyMeters, BatteriesThatRestAndThoseOfMiceGiveNothing) {
  battery("BAT0", "Discharging", "6000000");
  battery("BAT1", "Not charging", "3000000");
  battery("mouse", "Discharging", "1000000");
  write("power_supply/mouse/scope", "Device");
  meter_.sample(0);
  meter_.sample(10);
  expect(60, "battery");
}

TEST_F(EnergyMeters, FromTheMainsABatteryTellsNothing) {
  for (const char* status : {"Charging", "Full", "Unknown"}) {
    battery("BAT0", "Discharging", "10000000");
    EnergyMeter meter(root_.path());
    meter.sample(0);
    battery("BAT0", status, "10000000");
    meter.sample(5);
    battery("BAT0", "Discharging", "10000000");
    meter.sample(10);
    EXPECT_FALSE(meter.energy()) << status;
  }
  write("power_supply/AC/type", "Mains");
  write("power_supply/AC/online", "1");  // too weak to feed it alone
  meter_.sample(0);
  meter_.sample(5);
  EXPECT_FALSE(meter_.energy());
}

TEST_F(EnergyMeters, AnImpossiblePowerIsNotKnown) {
  for (const char* power : {"0", "9000000000", "", "nan"}) {
    battery("BAT0", "Discharging", power);
    EnergyMeter meter(root_.path());
    meter.sample(0);
    meter.sample(5);
    EXPECT_FALSE(meter.energy()) << power;
  }
}

}  // namespace
}  // namespace moil::daemon::test
