#include <algorithm>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "daemon/schedule/world.h"
#include "daemon/state/job.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

// The first word of a sysfs file; empty where it cannot be read.
std::string word(const fs::path& file) {
  std::ifstream in(file);
  std::string text;
  in >> text;
  return text;
}

std::optional<double> number(const fs::path& file) {
  const std::string text = word(file);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || end == text.c_str()) return std::nullopt;
  return value;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) out.push_back(entry.path());
  return out;
}

void keep_largest(std::optional<double>& largest, std::optional<double> value) {
  if (value) largest = std::max(largest.value_or(*value), *value);
}

}  // namespace

std::int64_t LinuxWorld::now_milliseconds() const { return daemon::now_milliseconds(); }

int LinuxWorld::minute_of_day() const {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  return parts.tm_hour * 60 + parts.tm_min;
}

DeviceReading LinuxWorld::device() const {
  DeviceReading reading;
  read_power(reading);
  read_temperature(reading);
  read_load(reading);
  return reading;
}

void LinuxWorld::read_power(DeviceReading& reading) const {
  for (const fs::path& supply : entries(root_ / "sys/class/power_supply")) {
    if (word(supply / "scope") == "Device") continue;  // a mouse's battery is not ours
    const std::string type = word(supply / "type");
    if (type == "Battery") {
      if (const auto percent = number(supply / "capacity")) {
        keep_largest(reading.battery, *percent / 100.0);
      }
      if (!reading.on_mains) reading.on_mains = false;
    } else if (type == "Mains" || type.starts_with("USB")) {
      const bool online = word(supply / "online") == "1";
      reading.on_mains = online || reading.on_mains.value_or(false);
    }
  }
}

void LinuxWorld::read_temperature(DeviceReading& reading) const {
  for (const fs::path& zone : entries(root_ / "sys/class/thermal")) {
    if (!zone.filename().string().starts_with("thermal_zone")) continue;
    if (const auto thousandths = number(zone / "temp")) {
      keep_largest(reading.temperature_c, *thousandths / 1000.0);
    }
  }
}

void LinuxWorld::read_load(DeviceReading& reading) const {
  const double cpus = std::max(1U, std::thread::hardware_concurrency());
  if (const auto load = number(root_ / "proc/loadavg")) reading.load_per_cpu = *load / cpus;
}

}  // namespace moil::daemon
