// The seam between the scheduler and the device: the clocks, what the sensors say, the room on the
// disk. Tests put a fake behind it.
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/schedule/disk_meter.h"
#include "daemon/schedule/energy.h"
#include "daemon/schedule/load_meter.h"
#include "daemon/schedule/window.h"

namespace moil::daemon {

// What could be read; empty if the device does not show it.
struct DeviceReading {
  std::optional<bool> on_mains;           // empty: a device without power supplies, taken as mains
  std::optional<double> battery;          // the fullest battery, 0 to 1
  std::optional<double> load_per_cpu;     // 0 to 1: of the CPUs' time, what load_meter.h counts
  std::optional<double> temperature_c;    // the hottest thermal zone of those that can be believed
  std::string hottest;                    // that zone: "x86_pkg_temp"
  std::optional<double> memory_pressure;  // pressure.h; old kernels tell none
  std::optional<double> io_pressure;      // the same, as far as own disks are busy (disk_meter.h)
  std::optional<double> user_idle_minutes;  // user_idle.h; empty if nobody asks
  std::vector<std::string> ignored;         // readings that cannot be: "thermal_zone3 says 200 C"
};

class World {
 public:
  virtual ~World() = default;
  virtual std::int64_t now_milliseconds() const = 0;  // since 1970; people and networks set it
  // From some moment on; never set back or forward, and goes on while the device sleeps.
  virtual std::int64_t steady_milliseconds() const = 0;
  virtual LocalTime local_time() const = 0;
  // When clocks show that minute of the day that is `days` after today, in milliseconds since 1970.
  virtual std::int64_t local_moment(int days, int minute) const = 0;
  virtual DeviceReading device() const = 0;
  virtual EnergyMeter energy_meter() const = 0;  // that has not begun
  // Room on the file system of `path`; empty if the system does not show it.
  virtual std::optional<std::uint64_t> free_bytes(const std::filesystem::path& path) const = 0;
};

// When clocks show that minute of the day that is `days` after the day of `now`. One that comes
// twice is the first, but for a minute that is still to come today; one that never comes is the
// moment at which clocks skip it.
std::int64_t moment_from(std::time_t now, int days, int minute);

// Where proc and sys of the device are: the root, or what MOIL_DEVICE_ROOT names, so that a test's
// daemon sees a made-up device instead of the machine on which the test runs.
std::filesystem::path device_root();

class UserIdle;

// Linux: the system's clocks, <root>/sys/class/{power_supply,powercap,thermal}, <root>/proc and
// logind.
// One thread at a time.
class LinuxWorld : public World {
 public:
  enum class Users { kIgnored, kWatched };  // whether logind is asked for their idleness
  explicit LinuxWorld(std::filesystem::path root = device_root(), Users users = Users::kIgnored);
  ~LinuxWorld() override;
  std::int64_t now_milliseconds() const override;
  std::int64_t steady_milliseconds() const override;
  // In the time zone that holds now: TZ and /etc/localtime are looked at each time.
  LocalTime local_time() const override;
  std::int64_t local_moment(int days, int minute) const override;
  DeviceReading device() const override;
  EnergyMeter energy_meter() const override;
  std::optional<std::uint64_t> free_bytes(const std::filesystem::path& path) const override;

 private:
  void read_temperature(DeviceReading& reading) const;
  void read_load(DeviceReading& reading) const;
  void read_io_pressure(DeviceReading& reading) const;

  std::filesystem::path root_;
  mutable LoadMeter load_;
  mutable DiskMeter disks_;
  std::unique_ptr<UserIdle> users_;  // null: ignored
};

}  // namespace moil::daemon
