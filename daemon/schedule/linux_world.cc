#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/files/disk_full.h"
#include "base/seconds.h"
#include "daemon/schedule/power.h"
#include "daemon/schedule/pressure.h"
#include "daemon/schedule/sysfs.h"
#include "daemon/schedule/user_idle.h"
#include "daemon/schedule/world.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

// No silicon works outside; a sensor that says so is broken or absent.
constexpr double kColdestPossible = -50, kHottestPossible = 150;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The temperature at which the device would have switched itself off; empty if it shows none.
std::optional<double> critical_point(const fs::path& zone) {
  for (const fs::path& file : sysfs_entries(zone)) {
    const std::string name = file.filename();
    if (!name.starts_with("trip_point_") || !name.ends_with("_type")) continue;
    if (sysfs_word(file) != "critical") continue;
    const auto thousandths =
        sysfs_number(zone / (name.substr(0, name.size() - std::string("type").size()) + "temp"));
    if (thousandths && *thousandths > 0) return *thousandths / 1000;
  }
  return std::nullopt;
}

bool is_possible(const fs::path& zone, double celsius) {
  if (celsius < kColdestPossible || celsius > kHottestPossible) return false;
  return celsius < critical_point(zone).value_or(kHottestPossible + 1);
}

std::tm local(std::time_t moment) {
  ::tzset();  // localtime_r looks at the zone once only
  std::tm parts{};
  ::localtime_r(&moment, &parts);
  return parts;
}

std::string reading_text(const fs::path& zone, double celsius) {
  char text[32];
  std::snprintf(text, sizeof text, " says %.0f C", celsius);
  return zone.filename().string() + text;
}

}  // namespace

fs::path device_root() {
  const char* given = std::getenv("MOIL_DEVICE_ROOT");
  return given != nullptr && *given != '\0' ? given : "/";
}

LinuxWorld::LinuxWorld(fs::path root, Users users)
    : root_(std::move(root)),
      users_(users == Users::kWatched ? std::make_unique<UserIdle>() : nullptr) {
  DeviceReading first;  // what the next ones are measured from
  read_load(first);
  read_io_pressure(first);
}

LinuxWorld::~LinuxWorld() = default;

std::int64_t LinuxWorld::now_milliseconds() const { return moil::now_milliseconds(); }

std::int64_t LinuxWorld::steady_milliseconds() const {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

LocalTime LinuxWorld::local_time() const {
  const std::tm now = local(std::time(nullptr));
  return {now.tm_wday, now.tm_hour * 60 + now.tm_min};
}

std::int64_t LinuxWorld::local_moment(int days, int minute) const {
  return moment_from(std::time(nullptr), days, minute);
}

namespace {

// What clocks show in the zone that was looked at last, as a number that grows with it.
std::time_t shown(std::time_t moment) {
  std::tm parts{};
  ::localtime_r(&moment, &parts);
  return ::timegm(&parts);
}

// Clocks go past `wanted` without showing it: the first moment behind the skip. Whole days have
// been skipped where the date line was moved.
std::time_t skip_of(std::time_t near, std::time_t wanted) {
  constexpr std::time_t kLongestSkip = std::time_t{26} * 3600;
  std::time_t before = near - kLongestSkip, after = near + kLongestSkip;
  while (after - before > 1) {
    const std::time_t middle = before + (after - before) / 2;
    (shown(middle) < wanted ? before : after) = middle;
  }
  return after;
}

}  // namespace

std::int64_t moment_from(std::time_t now, int days, int minute) {
  std::tm then = local(now);
  then.tm_mday += days;
  then.tm_hour = minute / 60;
  then.tm_min = minute % 60;
  then.tm_sec = 0;
  then.tm_isdst = -1;
  std::tm wanted_parts = then;
  const std::time_t wanted = ::timegm(&wanted_parts), found = ::mktime(&then);
  if (shown(found) != wanted) return std::int64_t{skip_of(found, wanted)} * 1000;
  std::vector<std::time_t> moments;
  for (const int half_hours : {-4, -2, -1, 0, 1, 2, 4}) {
    const std::time_t moment = found + std::time_t{half_hours} * 1800;
    if (shown(moment) == wanted) moments.push_back(moment);
  }
  const bool is_to_come = days == 0 && shown(now) < wanted;
  const bool first_is_gone = is_to_come && moments.front() < now;
  return std::int64_t{first_is_gone ? moments.back() : moments.front()} * 1000;
}

DeviceReading LinuxWorld::device() const {
  DeviceReading reading;
  const PowerReading power = read_power(root_ / "sys/class/power_supply");
  reading.on_mains = power.on_mains;
  reading.battery = power.battery;
  read_temperature(reading);
  read_load(reading);
  reading.memory_pressure = parse_pressure(text_of(root_ / "proc/pressure/memory"));
  read_io_pressure(reading);
  if (users_) reading.user_idle_minutes = users_->minutes();
  return reading;
}

EnergyMeter LinuxWorld::energy_meter() const { return EnergyMeter(root_); }

std::optional<std::uint64_t> LinuxWorld::free_bytes(const fs::path& path) const {
  return free_disk_bytes(path);
}

void LinuxWorld::read_temperature(DeviceReading& reading) const {
  for (const fs::path& zone : sysfs_entries(root_ / "sys/class/thermal")) {
    if (!zone.filename().string().starts_with("thermal_zone")) continue;
    const auto thousandths = sysfs_number(zone / "temp");
    if (!thousandths) continue;
    const double celsius = *thousandths / 1000;
    if (!is_possible(zone, celsius)) {
      reading.ignored.push_back(reading_text(zone, celsius));
    } else if (!reading.temperature_c || celsius > *reading.temperature_c) {
      reading.temperature_c = celsius;
      const std::string type = sysfs_word(zone / "type");
      reading.hottest = type.empty() ? zone.filename().string() : type;
    }
  }
}

void LinuxWorld::read_load(DeviceReading& reading) const {
  const auto ticks = parse_cpu_ticks(text_of(root_ / "proc/stat"));
  if (!ticks) return;
  const auto share = load_.read(*ticks);
  reading.load_per_cpu = share ? *share : load_at_once(*ticks);
}

// Both must be: work that waits, and a disk of this device that is busy.
void LinuxWorld::read_io_pressure(DeviceReading& reading) const {
  reading.io_pressure = parse_pressure(text_of(root_ / "proc/pressure/io"));
  const auto disks = parse_disk_ticks(text_of(root_ / "proc/diskstats"));
  if (!reading.io_pressure || !disks) return;
  const bool at_work = std::ranges::any_of(*disks, [](const auto& d) { return d.under_way > 0; });
  const auto busy = disks_.read(*disks, steady_milliseconds());
  reading.io_pressure = std::min(*reading.io_pressure, busy.value_or(at_work ? 1 : 0));
}

}  // namespace moil::daemon
