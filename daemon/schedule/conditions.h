// When a job may run: the nightly window and what the device must be like. Pure functions of what
// was configured and what was read.
#pragma once

#include <optional>
#include <string>

#include "daemon/schedule/world.h"

namespace moil::daemon {

// [start, end) in minutes of the local day; may span midnight; start == end is the whole day.
struct Window {
  int start = 60;
  int end = 360;
  bool contains(int minute) const;
  std::string text() const;  // "01:00-06:00"
};

// "HH:MM" -> minutes; empty where it is not one.
std::optional<int> parse_time_of_day(const std::string& text);
std::string time_of_day(int minute);

struct Conditions {
  bool need_mains = true;
  double min_battery = 0.3;       // of a full one, where not on mains is allowed or known
  double max_load_per_cpu = 0.5;  // of others: looked at only before a job starts
  double max_temperature_c = 75;
};

// What keeps a job back.
enum class Obstacle { kNone, kWindow, kMains, kBattery, kTemperature, kLoad };
const char* name_of(Obstacle obstacle);  // "window", "mains", "battery", "temperature", "load"

struct Verdict {
  bool open = false;
  std::string reason;  // why not, one clause; empty where open
  Obstacle obstacle = Obstacle::kNone;
  // Where it is a figure: what was read and what is allowed, in the units of Conditions.
  std::optional<double> found = {}, allowed = {};
};

// Whether a job that waits for the night may start, or go on where it is running already (our own
// worker is the load then).
Verdict judge(const Window& window, const Conditions& conditions, const World& world,
              bool is_running);

}  // namespace moil::daemon
