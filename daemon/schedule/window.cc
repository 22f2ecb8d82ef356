#include "daemon/schedule/window.h"

#include <cctype>
#include <cstdio>

#include "daemon/schedule/world.h"

namespace moil::daemon {

int Window::length() const {
  const int minutes = (end - start + kMinutesOfDay) % kMinutesOfDay;
  return minutes == 0 ? kMinutesOfDay : minutes;
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

std::optional<Window> parse_window(const std::string& text) {
  if (text.size() != 11 || text[5] != '-') return std::nullopt;
  const auto start = parse_time_of_day(text.substr(0, 5)), end = parse_time_of_day(text.substr(6));
  if (!start || !end) return std::nullopt;
  return Window{*start, *end};
}

void Nights::set(int weekday, const std::optional<Window>& window) {
  days_.at(static_cast<std::size_t>(weekday)) = window;
}

std::optional<Nights::Open> Nights::open_at(const LocalTime& now) const {
  for (const int days_ago : {0, 1}) {
    const auto& window = days_.at(static_cast<std::size_t>((now.weekday + 7 - days_ago) % 7));
    if (!window) continue;
    const int since = now.minute + days_ago * kMinutesOfDay - window->start;
    if (since >= 0 && since < window->length()) return Open{*window, since};
  }
  return std::nullopt;
}

std::optional<Nights::Next> Nights::next(const LocalTime& now) const {
  for (int days = 0; days <= 7; ++days) {
    const auto& window = days_.at(static_cast<std::size_t>((now.weekday + days) % 7));
    if (!window) continue;
    const int in = days * kMinutesOfDay + window->start - now.minute;
    if (in > 0) return Next{*window, in};
  }
  return std::nullopt;
}

namespace {

// When clocks show that minute of the day of `now`, or of a day after it. World tells either alone:
// if a minute ends in between, both are asked again.
template <typename Which>
std::optional<std::int64_t> moment_of(const World& world, const Which& which) {
  for (;;) {
    const LocalTime now = world.local_time();
    const std::optional<int> minute = which(now);
    if (!minute) return std::nullopt;
    const int days = (*minute + kMinutesOfDay) / kMinutesOfDay - 1;
    const auto moment = world.local_moment(days, *minute - days * kMinutesOfDay);
    if (world.local_time() == now) return moment;
  }
}

}  // namespace

std::optional<std::int64_t> opened_at(const Nights& nights, const World& world) {
  return moment_of(world, [&](const LocalTime& now) -> std::optional<int> {
    const auto open = nights.open_at(now);
    if (!open) return std::nullopt;
    return now.minute - open->since;
  });
}

std::optional<std::int64_t> opens_at(const Nights& nights, const World& world) {
  return moment_of(world, [&](const LocalTime& now) -> std::optional<int> {
    const auto next = nights.next(now);
    if (!next) return std::nullopt;
    return now.minute + next->in;
  });
}

std::vector<std::int64_t> windows_gone(const Nights& nights, const World& world) {
  constexpr int kMostDays = 100;
  constexpr std::int64_t kMinuteMs = 60'000;
  const std::int64_t now = world.now_milliseconds();
  const int today = world.local_time().weekday;
  std::vector<std::int64_t> gone;
  for (int days = 0; days < kMostDays; ++days) {
    const auto& window = nights.of((today + 7 * kMostDays - days) % 7);
    if (!window) continue;
    const std::int64_t start = world.local_moment(-days, window->start);
    if (start + window->length() * kMinuteMs <= now) gone.push_back(start);
  }
  return gone;
}

}  // namespace moil::daemon
