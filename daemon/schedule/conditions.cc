#include "daemon/schedule/conditions.h"

#include <cctype>
#include <cstdio>

namespace moil::daemon {
namespace {

std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
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

Verdict judge(const Window& window, const Conditions& conditions, const World& world,
              bool is_running) {
  if (!window.contains(world.minute_of_day())) {
    return {false, "outside the window " + window.text()};
  }
  const DeviceReading device = world.device();
  if (conditions.need_mains && !device.on_mains.value_or(true)) {
    return {false, "on battery power"};
  }
  if (device.battery && *device.battery < conditions.min_battery) {
    return {false, "the battery is at " + rounded(*device.battery * 100) + "%"};
  }
  if (device.temperature_c && *device.temperature_c > conditions.max_temperature_c) {
    return {false, "the device is hot (" + rounded(*device.temperature_c) + " C)"};
  }
  if (!is_running && device.load_per_cpu && *device.load_per_cpu > conditions.max_load_per_cpu) {
    return {false, "the device is busy (load " + rounded(*device.load_per_cpu) + " per CPU)"};
  }
  return {true, ""};
}

}  // namespace moil::daemon
