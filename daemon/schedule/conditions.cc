#include "daemon/schedule/conditions.h"

#include <cctype>
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

}  // namespace

bool Window::contains(int minute) const {
  if (start == end) return true;
  if (start < end) return minute >= start && minute < end;
  return minute >= start || minute < end;
}

std::string Window::text() const { return time_of_day(start) + "-" + time_of_day(end); }

std::optional<int> parse_time_of_day(const std::string& text) {
  const auto digit = [&](std::size_t i) {
    return std::isdigit(static_cast<unsigned char>(text[i])) != 0;
  };
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  if (!digit(0) || !digit(1) || !digit(3) || !digit(4)) return std::nullopt;
  const int hours = (text[0] - '0') * 10 + (text[1] - '0');
  const int minutes = (text[3] - '0') * 10 + (text[4] - '0');
  if (hours > 23 || minutes > 59) return std::nullopt;
  return hours * 60 + minutes;
}

std::string time_of_day(int minute) {
  char text[16];
  std::snprintf(text, sizeof text, "%02d:%02d", minute / 60 % 24, minute % 60);
  return text;
}

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
  }
  return "";
}

Verdict judge(const Window& window, const Conditions& conditions, const World& world,
              bool is_running) {
  if (!window.contains(world.minute_of_day())) {
    return {false, "outside the window " + window.text(), Obstacle::kWindow};
  }
  const DeviceReading device = world.device();
  if (conditions.need_mains && !device.on_mains.value_or(true)) {
    return {false, "on battery power", Obstacle::kMains};
  }
  if (device.battery && *device.battery < conditions.min_battery) {
    return too_low(*device.battery, conditions.min_battery);
  }
  if (device.temperature_c && *device.temperature_c > conditions.max_temperature_c) {
    return too_hot(device, conditions.max_temperature_c);
  }
  if (!is_running && device.load_per_cpu && *device.load_per_cpu > conditions.max_load_per_cpu) {
    return too_busy(*device.load_per_cpu, conditions.max_load_per_cpu);
  }
  return {true, ""};
}

}  // namespace moil::daemon
