// The seam between the scheduler and the device: the clock and what the sensors say. Tests put a
// fake behind it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace moil::daemon {

// What could be read; empty where the device does not tell.
struct DeviceReading {
  std::optional<bool> on_mains;         // empty: a device without power supplies, taken as mains
  std::optional<double> battery;        // the fullest battery, 0 to 1
  std::optional<double> load_per_cpu;   // of the last minute
  std::optional<double> temperature_c;  // the hottest thermal zone
};

class World {
 public:
  virtual ~World() = default;
  virtual std::int64_t now_milliseconds() const = 0;  // since 1970
  virtual int minute_of_day() const = 0;              // local time, 0 to 1439
  virtual DeviceReading device() const = 0;
};

// Linux: the system's clock, <root>/sys/class/{power_supply,thermal} and <root>/proc/loadavg.
class LinuxWorld : public World {
 public:
  explicit LinuxWorld(std::filesystem::path root = "/") : root_(std::move(root)) {}
  std::int64_t now_milliseconds() const override;
  int minute_of_day() const override;
  DeviceReading device() const override;

 private:
  void read_power(DeviceReading& reading) const;
  void read_temperature(DeviceReading& reading) const;
  void read_load(DeviceReading& reading) const;

  std::filesystem::path root_;
};

}  // namespace moil::daemon
