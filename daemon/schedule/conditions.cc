#include "daemon/schedule/conditions.h"

#include <array>
#include <cstdio>

namespace moil::daemon {
namespace {

std::string rounded(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

Verdict too_low(double battery, double least) {
  return {false,
          "the battery is at " + rounded(battery * 100, 0) + "%; " + rounded(least * 100, 0) +
              "% are asked for",
          Obstacle::kBattery, battery, least};
}

Verdict too_hot(const DeviceReading& device, double most) {
  const double found = *device.temperature_c;
  const std::string where = device.hottest.empty() ? "" : device.hottest + " ";
  return {false,
          "the device is hot (" + where + rounded(found, 0) + " C; " + rounded(most, 0) +
              " C are allowed)",
          Obstacle::kTemperature, found, most};
}

Verdict too_busy(double load, double most) {
  return {false,
          "the device is busy (load " + rounded(load, 2) + " per CPU; " + rounded(most, 2) +
              " is allowed)",
          Obstacle::kLoad, load, most};
}

Verdict too_short_of(const char* what, Obstacle obstacle, double pressure, double most) {
  return {false,
          std::string("work waits for ") + what + " (" + rounded(pressure * 100, 0) +
              "% of the last minute; " + rounded(most * 100, 0) + "% are allowed)",
          obstacle, pressure, most};
}

Verdict judge_idleness(double idle, double least) {
  return {false,
          "the device is in use (for " + rounded(idle, 0) + " min it was not; " +
              rounded(least, 0) + " min are asked for)",
          Obstacle::kUser, idle, least};
}

Verdict outside(const Nights& nights, const LocalTime& now) {
  const auto next = nights.next(now);
  if (!next) return {false, "no day has a window", Obstacle::kWindow};
  constexpr std::array kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                "Thursday", "Friday", "Saturday"};
  const int days = (now.minute + next->in) / kMinutesOfDay;
  const std::string day = kDays.at(static_cast<std::size_t>((now.weekday + days) % 7));
  return {false, "outside the window " + next->window.text() + (days > 1 ? " of " + day : ""),
          Obstacle::kWindow};
}

// What only matters before a job starts: afterwards it is its own work that is seen.
Verdict judge_others(const Conditions& conditions, const DeviceReading& device) {
  if (device.load_per_cpu && *device.load_per_cpu > conditions.max_load_per_cpu)
    return too_busy(*device.load_per_cpu, conditions.max_load_per_cpu);
  if (device.memory_pressure && *device.memory_pressure > conditions.max_memory_pressure)
    return too_short_of("memory", Obstacle::kMemory, *device.memory_pressure,
                        conditions.max_memory_pressure);
  if (device.io_pressure && *device.io_pressure > conditions.max_io_pressure)
    return too_short_of("the disk", Obstacle::kIo, *device.io_pressure, conditions.max_io_pressure);
  return {true, ""};
}

}  // namespace

const char* name_of(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::kNone:
      return "";
    case Obstacle::kWindow:
      return "window";
    case Obstacle::kMains:
      return "mains";
    case Obstacle::kBattery:
      return "battery";
    case Obstacle::kTemperature:
      return "temperature";
    case Obstacle::kLoad:
      return "load";
    case Obstacle::kMemory:
      return "memory";
    case Obstacle::kIo:
      return "io";
    case Obstacle::kUser:
      return "user";
  }
  return "";
}

Obstacle obstacle_of(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Obstacle::kUser); ++i) {
    const auto obstacle = static_cast<Obstacle>(i);
    if (name == name_of(obstacle)) return obstacle;
  }
  return Obstacle::kNone;
}

Verdict judge(const Nights& nights, const Conditions& conditions, const World& world,
              bool is_running) {
  const LocalTime now = world.local_time();
  if (!nights.open_at(now)) return outside(nights, now);
  return judge(nights, conditions, now, world.device(), is_running);
}

Verdict judge(const Nights& nights, const Conditions& conditions, const LocalTime& now,
              const DeviceReading& device, bool is_running) {
  if (!nights.open_at(now)) return outside(nights, now);
  if (conditions.need_mains && !device.on_mains.value_or(true))
    return {false, "on battery power", Obstacle::kMains};
  if (device.battery && *device.battery < conditions.min_battery)
    return too_low(*device.battery, conditions.min_battery);
  const double hottest = conditions.max_temperature_c - (is_running ? 0 : kCoolerToStart);
  if (device.temperature_c && *device.temperature_c > hottest) return too_hot(device, hottest);
  if (device.user_idle_minutes && *device.user_idle_minutes < conditions.user_idle_minutes)
    return judge_idleness(*device.user_idle_minutes, conditions.user_idle_minutes);
  return is_running ? Verdict{true, ""} : judge_others(conditions, device);
}

}  // namespace moil::daemon
