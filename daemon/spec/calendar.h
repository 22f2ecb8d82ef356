// Calendar expressions as systemd's timers have them (systemd.time(7)): "Mon..Fri 02:30",
// "*-*-1,15 03:00", "weekly", "*-*~1 04:00 UTC".
//
// Weekdays, a date, a time of day, or some of them; each field is *, a number, a range a..b, any of
// them with a step /n, or a list; ~ in place of the last - counts days from the end of the month.
// Times are the local zone's, or UTC if the expression ends so. What systemd takes beside that
// is refused by name: other zones, @seconds, fractions of a second. Plain values; safe from any
// thread.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace moil::daemon {

class Calendar {
 public:
  // kInvalidArgument with what is wrong and where.
  explicit Calendar(const std::string& text);

  const std::string& text() const { return text_; }
  // The first moment behind `after` that the expression names, in seconds since 1970. A local time
  // that a change of clocks skips is none; of one that comes twice it is the first. Empty if
  // there is none any more.
  [[nodiscard]] std::optional<std::int64_t> next(std::int64_t after) const;

 private:
  // One of a field's list.
  struct Part {
    int start = 0;
    std::optional<int> stop;  // of a range
    int step = 0;             // 0: start alone
  };
  using Field = std::vector<Part>;  // empty: any
  class Parser;
  class Search;

  std::string text_;
  Field year_, month_, day_, hour_, minute_, second_;
  bool from_month_end_ = false;  // days count from the last one, which is 1
  unsigned weekdays_ = 0x7f;     // bit 0: Sunday, as tm_wday
  bool utc_ = false;
};

}  // namespace moil::daemon
