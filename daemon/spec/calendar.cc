#include "daemon/spec/calendar.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <string_view>

#include "base/error.h"

namespace moil::daemon {
namespace {

constexpr unsigned kAllDays = 0x7f;
constexpr int kFirstYear = 1970, kLastYear = 2199;

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kShorthands = {{
    {"minutely", "*-*-* *:*:00"},
    {"hourly", "*-*-* *:00:00"},
    {"daily", "*-*-* 00:00:00"},
    {"weekly", "Mon *-*-* 00:00:00"},
    {"monthly", "*-*-01 00:00:00"},
    {"quarterly", "*-01,04,07,10-01 00:00:00"},
    {"semiannually", "*-01,07-01 00:00:00"},
    {"yearly", "*-01-01 00:00:00"},
    {"annually", "*-01-01 00:00:00"},
}};

constexpr std::array<std::string_view, 7> kDayNames = {"sunday",   "monday", "tuesday", "wednesday",
                                                       "thursday", "friday", "saturday"};

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::vector<std::string> split(const std::string& text, std::string_view separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + separator.size();
  }
}

bool has_letter(const std::string& word) {
  return std::ranges::any_of(word, [](unsigned char c) { return std::isalpha(c) != 0; });
}

int days_of_month(int year, int month) {
  constexpr std::array kDaysOf = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : kDaysOf[static_cast<std::size_t>(month - 1)];
}

}  // namespace

class Calendar::Parser {
 public:
  explicit Parser(Calendar& calendar) : calendar_(calendar) {}

  void run() {
    std::vector<std::string> words = words_of(calendar_.text_);
    if (words.empty()) fail("it is empty");
    take_zone(words);
    if (words.size() == 1) {
      for (const auto& [name, meaning] : kShorthands)
        if (lower(words[0]) == name) words = words_of(std::string(meaning));
    }
    std::size_t at = 0;
    if (at < words.size() && has_letter(words[at])) take_weekdays(words[at++]);
    if (at < words.size() && is_date(words[at])) take_date(words[at++]);
    if (at < words.size() && words[at].find(':') != std::string::npos)
      take_time(words[at++]);
    else
      calendar_.hour_ = calendar_.minute_ = calendar_.second_ = {{0, {}, 0}};
    if (at < words.size()) fail("\"" + words[at] + "\" is no part of it");
  }

 private:
  static std::vector<std::string> words_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::kInvalidArgument,
                "\"" + calendar_.text_ + "\" is no calendar expression: " + what +
                    "; one is \"Mon..Fri 02:30\", see systemd.time(7)");
  }

  void take_zone(std::vector<std::string>& words) {
    if (words.size() < 2) return;
    const std::string& last = words.back();
    if (last == "UTC") {
      calendar_.utc_ = true;
      words.pop_back();
    } else if (last.find('/') != std::string::npos && has_letter(last)) {
      fail("it names the time zone " + last + "; leave it out, or use UTC");
    }
  }

  static bool is_date(const std::string& word) {
    return word.find(':') == std::string::npos &&
           (word.find('-') != std::string::npos || word.find('~') != std::string::npos);
  }

  unsigned day_of(const std::string& name) const {
    const std::string small = lower(name);
    for (unsigned day = 0; day < kDayNames.size(); ++day)
      if (small == kDayNames[day] || small == kDayNames[day].substr(0, 3)) return day;
    fail("\"" + name + "\" is no weekday");
  }

  // A week begins on Monday.
  void take_weekdays(const std::string& word) {
    calendar_.weekdays_ = 0;
    const auto place = [&](const std::string& name) { return (day_of(name) + 6) % 7; };
    for (const std::string& part : split(word, ",")) {
      const auto ends = split(part, "..");
      if (ends.size() > 2) fail("\"" + part + "\" is no range of weekdays");
      const unsigned first = place(ends.front()), last = place(ends.back());
      if (first > last) fail("\"" + part + "\" ends before it begins");
      for (unsigned day = first; day <= last; ++day) calendar_.weekdays_ |= 1U << (day + 1) % 7;
    }
  }

  void take_date(const std::string& word) {
    std::string date = word;
    if (const std::size_t tilde = date.find('~'); tilde != std::string::npos) {
      calendar_.from_month_end_ = true;
      date[tilde] = '-';
    }
    const auto fields = split(date, "-");
    if (fields.size() < 2 || fields.size() > 3) fail("\"" + word + "\" is no date");
    std::size_t at = 0;
    if (fields.size() == 3) calendar_.year_ = years(fields[at++]);
    calendar_.month_ = field(fields[at++], "month", 1, 12);
    calendar_.day_ = field(fields[at], "day", 1, 31);
    if (calendar_.from_month_end_ && calendar_.day_.empty()) fail("\"~\" needs a day");
  }

  void take_time(const std::string& word) {
    const auto fields = split(word, ":");
    if (fields.size() > 3) fail("\"" + word + "\" is no time");
    calendar_.hour_ = field(fields[0], "hour", 0, 23);
    calendar_.minute_ = field(fields[1], "minute", 0, 59);
    calendar_.second_ = {{0, {}, 0}};
    if (fields.size() == 3) calendar_.second_ = field(fields[2], "second", 0, 59);
  }

  Field years(const std::string& text) const {
    Field list = field(text, "year", 0, kLastYear);
    const auto whole = [](int year) {
      return year < 70 ? year + 2000 : year < 100 ? year + 1900 : year;
    };
    for (Part& part : list) {
      part.start = whole(part.start);
      if (part.stop) part.stop = whole(*part.stop);
      if (part.start < kFirstYear) fail("the year is before 1970");
    }
    return list;
  }

  Field field(const std::string& text, const char* what, int least, int most) const {
    if (text == "*") return {};
    Field list;
    for (const std::string& word : split(text, ",")) {
      const auto step = split(word, "/");
      const auto ends = split(step[0], "..");
      if (step.size() > 2 || ends.size() > 2) fail("\"" + word + "\" is no " + what);
      Part part{number(ends[0], what, least, most), {}, 0};
      if (ends.size() == 2) {
        part.stop = number(ends[1], what, least, most);
        part.step = 1;
        if (part.start > *part.stop) fail("\"" + word + "\" ends before it begins");
      }
      if (step.size() == 2) part.step = number(step[1], what, 1, most);
      list.push_back(part);
    }
    return list;
  }

  int number(const std::string& text, const char* what, int least, int most) const {
    const bool digits =
        !text.empty() && text.size() <= 4 &&
        std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
    const int value = digits ? std::stoi(text) : -1;
    if (!digits || value < least || value > most)
      fail("\"" + text + "\" is no " + what + " from " + std::to_string(least) + " to " +
           std::to_string(most));
    return value;
  }

  Calendar& calendar_;
};

// Looks for the next moment field by field, from the year on; what is below a field that moves
// begins at its least.
class Calendar::Search {
 public:
  Search(const Calendar& calendar, std::int64_t after) : c_(calendar), after_(after) {
    set(after + 1);
  }

  std::optional<std::int64_t> run() {
    // Each round moves on by a day at least, or ends; the longest way is to a weekday's 29
    // February.
    for (int round = 0; round < 400 * 40; ++round) {
      if (!settle()) return std::nullopt;
      if (!is_weekday()) {
        begin_day(tm_.tm_mday + 1);
        continue;
      }
      if (!settle_time()) {
        begin_day(tm_.tm_mday + 1);
        continue;
      }
      if (const auto found = moment()) return found;
    }
    return std::nullopt;
  }

 private:
  void set(std::int64_t seconds) {
    const auto time = static_cast<std::time_t>(seconds);
    if (c_.utc_)
      ::gmtime_r(&time, &tm_);
    else
      ::localtime_r(&time, &tm_);
  }

  // The least value of the field from `value` to `most`.
  static std::optional<int> least(const Field& field, int value, int most) {
    if (field.empty()) return value <= most ? std::optional(value) : std::nullopt;
    std::optional<int> found;
    for (const Part& part : field) {
      int candidate = part.start;
      if (candidate < value && part.step > 0)
        candidate += (value - candidate + part.step - 1) / part.step * part.step;
      if (candidate < value || candidate > std::min(most, part.stop.value_or(most))) continue;
      if (part.step == 0 && candidate != part.start) continue;
      found = std::min(found.value_or(candidate), candidate);
    }
    return found;
  }

  // Days of this month, those from its end turned round.
  Field days() const {
    if (!c_.from_month_end_) return c_.day_;
    const int last = days_of_month(tm_.tm_year + 1900, tm_.tm_mon + 1);
    Field turned;
    for (const Part& part : c_.day_) {
      const int start = last + 1 - part.start;
      if (!part.stop) {
        turned.push_back({start, {}, part.step});
      } else {  // from the later to the earlier, seen from the month's end
        turned.push_back({last + 1 - *part.stop, start, part.step});
      }
    }
    std::erase_if(turned, [](const Part& part) { return part.start < 1 && part.step == 0; });
    return turned;
  }

  // The date; false if no year is left.
  bool settle() {
    for (;;) {
      const auto year = least(c_.year_, tm_.tm_year + 1900, kLastYear);
      if (!year) return false;
      if (*year != tm_.tm_year + 1900) begin_year(*year);
      const auto month = least(c_.month_, tm_.tm_mon + 1, 12);
      if (!month) {
        begin_year(*year + 1);
        continue;
      }
      if (*month != tm_.tm_mon + 1) begin_month(*month);
      const auto day = least(days(), tm_.tm_mday, days_of_month(*year, *month));
      if (day) {
        if (*day != tm_.tm_mday) begin_day(*day);
        return true;
      }
      if (*month == 12)
        begin_year(*year + 1);
      else
        begin_month(*month + 1);
    }
  }

  // The time of day; false if the day has none left.
  bool settle_time() {
    for (;;) {
      const auto hour = least(c_.hour_, tm_.tm_hour, 23);
      if (!hour) return false;
      if (*hour != tm_.tm_hour) tm_.tm_hour = *hour, tm_.tm_min = tm_.tm_sec = 0;
      const auto minute = least(c_.minute_, tm_.tm_min, 59);
      if (minute) {
        if (*minute != tm_.tm_min) tm_.tm_min = *minute, tm_.tm_sec = 0;
        const auto second = least(c_.second_, tm_.tm_sec, 59);
        if (second) {
          tm_.tm_sec = *second;
          return true;
        }
        ++tm_.tm_min;
        tm_.tm_sec = 0;
      } else {
        ++tm_.tm_hour;
        tm_.tm_min = tm_.tm_sec = 0;
      }
    }
  }

  bool is_weekday() const {
    if (c_.weekdays_ == kAllDays) return true;
    std::tm date = tm_;
    date.tm_hour = 12;
    ::timegm(&date);
    return (c_.weekdays_ >> date.tm_wday & 1) != 0;
  }

  // Empty if the clocks skip this time, or if it is not behind `after_`: then the search goes
  // on from the second that follows.
  std::optional<std::int64_t> moment() {
    std::tm local = tm_;
    local.tm_isdst = -1;
    const std::time_t found = c_.utc_ ? ::timegm(&local) : ::mktime(&local);
    const bool is_there = local.tm_hour == tm_.tm_hour && local.tm_min == tm_.tm_min;
    if (is_there && first_of(found) > after_) return first_of(found);
    ++tm_.tm_sec;
    carry();
    return std::nullopt;
  }

  // If clocks are set back a time comes twice, and mktime() gives either.
  std::time_t first_of(std::time_t found) const {
    constexpr std::time_t kHalfHour = 1800;
    for (const std::time_t back : {4 * kHalfHour, 2 * kHalfHour, kHalfHour}) {
      const std::time_t earlier = found - back;
      std::tm local{};
      if (c_.utc_ || ::localtime_r(&earlier, &local) == nullptr) return found;
      if (local.tm_mday == tm_.tm_mday && local.tm_hour == tm_.tm_hour &&
          local.tm_min == tm_.tm_min)
        return earlier;
    }
    return found;
  }

  void carry() {
    if (tm_.tm_sec < 60) return;
    tm_.tm_sec = 0;
    if (++tm_.tm_min < 60) return;
    tm_.tm_min = 0;
    if (++tm_.tm_hour < 24) return;
    begin_day(tm_.tm_mday + 1);
  }

  // settle() makes the next month's first of a day behind the month's last.
  void begin_day(int day) {
    tm_.tm_mday = day;
    tm_.tm_hour = tm_.tm_min = tm_.tm_sec = 0;
  }
  void begin_month(int month) {
    tm_.tm_mon = month - 1;
    begin_day(1);
  }
  void begin_year(int year) {
    tm_.tm_year = year - 1900;
    begin_month(1);
  }

  const Calendar& c_;
  const std::int64_t after_;
  std::tm tm_{};
};

Calendar::Calendar(const std::string& text) : text_(text) { Parser(*this).run(); }

std::optional<std::int64_t> Calendar::next(std::int64_t after) const {
  return Search(*this, after).run();
}

}  // namespace moil::daemon
