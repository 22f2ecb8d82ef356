// When a job may run: the nightly window and what the device must be like. Pure functions of what
// was configured and what was read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "daemon/schedule/world.h"

namespace moil::daemon {

struct Conditions {
  bool need_mains = true;
  double min_battery = 0.3;  // of a full battery, if the device has one
  double max_temperature_c = 75;
  // What others do, so looked at only before a job starts.
  double max_load_per_cpu = 0.5;
  double max_memory_pressure = 0.1, max_io_pressure = 0.3;  // pressure.h
  double user_idle_minutes = 0;                             // 0: whether it is used does not matter
};

// A job does not start within so many degrees of the limit, for it will warm the device up.
constexpr double kCoolerToStart = 5;

// What keeps a job back.
enum class Obstacle { kNone, kWindow, kMains, kBattery, kTemperature, kLoad, kMemory, kIo, kUser };
// "window", "mains", "battery", "temperature", "load", "memory", "io", "user"
const char* name_of(Obstacle obstacle);
// kNone for a name that is none.
Obstacle obstacle_of(std::string_view name);

struct Verdict {
  bool open = false;
  std::string reason;  // why not, one clause; empty if open
  Obstacle obstacle = Obstacle::kNone;
  // If the obstacle is a figure: what was read and what is allowed, in the units of Conditions.
  std::optional<double> found = {}, allowed = {};
};

// Whether a job that waits for the night may start, or go on if it is running already (our own
// worker is the load then).
Verdict judge(const Nights& nights, const Conditions& conditions, const LocalTime& now,
              const DeviceReading& device, bool is_running);
// The same as things are; outside of the window the device is not even looked at.
Verdict judge(const Nights& nights, const Conditions& conditions, const World& world,
              bool is_running);

}  // namespace moil::daemon
