// The night: a window of the local day, which single weekdays may have otherwise or not at all.
//
// A window belongs to the day on which it begins. It is judged by what clocks show: if they are
// set forward within it, it is shorter, and if they are set back, longer. Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace moil::daemon {

class World;

constexpr int kMinutesOfDay = 1440;

// What clocks show: weekday 0 is Sunday, as in tm_wday.
struct LocalTime {
  int weekday = 0;
  int minute = 0;  // of the day, 0 to 1439
  bool operator==(const LocalTime&) const = default;
};

// [start, end) in minutes of the day; may span midnight; start == end is a whole day.
struct Window {
  int start = 60;
  int end = 360;
  int length() const;        // minutes, 1 to 1440
  std::string text() const;  // "01:00-06:00"
};

// "HH:MM" -> minutes; empty if it is not one.
std::optional<int> parse_time_of_day(const std::string& text);
std::string time_of_day(int minute);
// "HH:MM-HH:MM".
std::optional<Window> parse_window(const std::string& text);

class Nights {
 public:
  Nights() : Nights(Window{}) {}
  Nights(const Window& usual) { days_.fill(usual); }  // NOLINT: a window is a week of them

  // A weekday's (0 is Sunday); empty: none begins on it.
  void set(int weekday, const std::optional<Window>& window);
  const std::optional<Window>& of(int weekday) const {
    return days_.at(static_cast<std::size_t>(weekday));
  }

  struct Open {
    Window window;
    int since = 0;  // minutes ago
  };
  [[nodiscard]] std::optional<Open> open_at(const LocalTime& now) const;

  struct Next {
    Window window;
    int in = 0;  // minutes from now, 1 to a week
  };
  // The first that begins later; empty if no day has one.
  [[nodiscard]] std::optional<Next> next(const LocalTime& now) const;

 private:
  std::array<std::optional<Window>, 7> days_;
};

// When the window began that is open now, or when the next one begins, in milliseconds since 1970;
// empty if there is none. A window has one beginning, whatever clocks do in it: if its start
// comes twice that is the first, and if its start is skipped it is the moment of the skip.
std::optional<std::int64_t> opened_at(const Nights& nights, const World& world);
std::optional<std::int64_t> opens_at(const Nights& nights, const World& world);
// When windows began that are over, of the last hundred days; newest first.
std::vector<std::int64_t> windows_gone(const Nights& nights, const World& world);

}  // namespace moil::daemon
