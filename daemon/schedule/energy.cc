#include "daemon/schedule/energy.h"

#include <algorithm>
#include <cmath>

#include "daemon/schedule/power.h"
#include "daemon/schedule/sysfs.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

constexpr double kLongestGap = 60;  // seconds
// No device that runs moild takes more; a counter that was reset says so, for it seems to wrap.
constexpr double kMostWatts = 2000;
// Counters move in steps, a while after the energy was taken.
constexpr double kStepSeconds = 1;
// A counter that stands still for so long counts nothing.
constexpr double kLongestStill = 10;
constexpr double kMicro = 1e-6;
constexpr const char* kMachine = "psys";

bool is_counted(const std::string& name) {
  return name == kMachine || name.starts_with("package-");
}

// Microjoules; empty if it cannot be read.
std::optional<double> count_of(const fs::path& zone) {
  const auto now = sysfs_number(zone / "energy_uj");
  return now && *now >= 0 ? now : std::nullopt;
}

// From one count to the next, of so many seconds; empty if that cannot be.
std::optional<double> difference(double before, double now, const fs::path& zone, double seconds) {
  double more = now - before;
  if (more < 0) more += sysfs_number(zone / "max_energy_range_uj").value_or(0);
  if (more < 0 || more * kMicro > kMostWatts * (seconds + kStepSeconds)) return std::nullopt;
  return more;
}

// Drivers do not agree on the sign of what flows out of a battery.
std::optional<double> watts_of(const fs::path& battery) {
  if (const auto power = sysfs_number(battery / "power_now")) return std::abs(*power) * kMicro;
  const auto current = sysfs_number(battery / "current_now");
  const auto voltage = sysfs_number(battery / "voltage_now");
  if (!current || !voltage) return std::nullopt;
  return std::abs(*current * kMicro * *voltage * kMicro);
}

// What the batteries give that discharge, while they alone feed the device.
std::optional<double> battery_watts(const fs::path& supplies) {
  if (read_power(supplies).on_mains != false) return std::nullopt;
  double watts = 0;
  for (const fs::path& battery : own_batteries(supplies)) {
    if (sysfs_line(battery / "status") != "Discharging") continue;
    const auto part = watts_of(battery);
    if (!part) return std::nullopt;
    watts += *part;
  }
  if (watts <= 0 || watts > kMostWatts) return std::nullopt;
  return watts;
}

}  // namespace

EnergyMeter::EnergyMeter(fs::path root)
    : zones_(root / "sys/class/powercap"), supplies_(root / "sys/class/power_supply") {}

void EnergyMeter::sample(double seconds) {
  if (!last_) {
    begin();
    first_ = seconds;
  } else if (is_known_) {
    follow(seconds - *last_);
  }
  last_ = seconds;
}

// Two interfaces may tell of the same package.
std::vector<EnergyMeter::Counter> EnergyMeter::readable_counters() const {
  std::vector<Counter> found;
  for (const fs::path& zone : sysfs_entries(zones_)) {
    const std::string name = sysfs_word(zone / "name");
    const auto now = count_of(zone);
    if (!is_counted(name) || !now) continue;
    const auto same = [&](const Counter& other) { return other.name == name; };
    if (std::ranges::none_of(found, same)) found.push_back({zone, name, *now, 0});
  }
  return found;
}

void EnergyMeter::begin() {
  counters_ = readable_counters();
  if (!counters_.empty()) return;
  watts_ = battery_watts(supplies_);
  is_known_ = watts_.has_value();
}

void EnergyMeter::follow(double seconds) {
  is_known_ = seconds >= 0 && seconds <= kLongestGap;
  if (!is_known_) return;
  if (counters_.empty()) return follow_battery(seconds);
  for (Counter& counter : counters_) {
    const auto now = count_of(counter.zone);
    const auto more = now ? difference(counter.before, *now, counter.zone, seconds) : std::nullopt;
    is_known_ = more.has_value();
    if (!is_known_) return;
    counter.before = *now;
    counter.counted += *more;
  }
}

void EnergyMeter::follow_battery(double seconds) {
  const auto now = battery_watts(supplies_);
  is_known_ = now.has_value();
  if (!is_known_) return;
  from_battery_ += (*watts_ + *now) / 2 * seconds;
  watts_ = now;
}

double EnergyMeter::counted(bool machine) const {
  double sum = 0;
  for (const Counter& counter : counters_)
    if ((counter.name == kMachine) == machine) sum += counter.counted * kMicro;
  return sum;
}

std::optional<Energy> EnergyMeter::energy() const {
  if (!is_known_ || !last_) return std::nullopt;
  if (counters_.empty()) return Energy{from_battery_, "battery"};
  const auto is_machine = [](const Counter& counter) { return counter.name == kMachine; };
  const auto machines = std::ranges::count_if(counters_, is_machine);
  const auto packages = std::ssize(counters_) - machines;
  const double whole = counted(true), processors = counted(false);
  const Energy found =
      machines > 0 && whole >= processors
          ? Energy{whole, "whole machine"}
          : Energy{processors, packages > 1 ? "processor packages" : "processor package"};
  if (found.joules == 0 && *last_ - *first_ > kLongestStill) return std::nullopt;
  return found;
}

}  // namespace moil::daemon
