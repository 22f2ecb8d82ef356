#include "daemon/schedule/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <ctime>
#include <set>

#include "daemon/config/config.h"
#include "tests/daemon/support/test_server.h"

namespace moil::daemon::test {
namespace {

using ::testing::HasSubstr;

constexpr int kSunday = 0, kMonday = 1, kFriday = 5, kSaturday = 6;

bool is_open(const Nights& nights, int weekday, int hour, int minute = 0) {
  return nights.open_at({weekday, hour * 60 + minute}).has_value();
}

TEST(NightWindow, WithinADay) {
  const Nights nights(Window{60, 360});
  EXPECT_FALSE(is_open(nights, kMonday, 0, 59));
  EXPECT_TRUE(is_open(nights, kMonday, 1));
  EXPECT_TRUE(is_open(nights, kMonday, 5, 59));
  EXPECT_FALSE(is_open(nights, kMonday, 6));
  EXPECT_EQ(nights.open_at({kMonday, 90})->since, 30);
}

TEST(NightWindow, AcrossMidnight) {
  const Nights nights(Window{23 * 60, 5 * 60});
  EXPECT_TRUE(is_open(nights, kMonday, 23));
  EXPECT_TRUE(is_open(nights, kMonday, 0));
  EXPECT_TRUE(is_open(nights, kMonday, 4, 59));
  EXPECT_FALSE(is_open(nights, kMonday, 5));
  EXPECT_FALSE(is_open(nights, kMonday, 12));
  EXPECT_EQ(nights.open_at({kMonday, 60})->since, 120);
}

TEST(NightWindow, TheSameTimeTwiceIsTheWholeDay) {
  const Nights nights(Window{90, 90});
  for (const int minute : {0, 89, 90, 1439}) EXPECT_TRUE(nights.open_at({kMonday, minute}));
}

TEST(NightWindow, BelongsToTheDayOnWhichItBegins) {
  Nights nights(Window{60, 360});
  nights.set(kFriday, Window{22 * 60, 10 * 60});
  nights.set(kSunday, std::nullopt);
  EXPECT_TRUE(is_open(nights, kFriday, 23));
  EXPECT_FALSE(is_open(nights, kFriday, 3)) << "the usual one is replaced";
  EXPECT_TRUE(is_open(nights, kSaturday, 9)) << "Friday's";
  EXPECT_TRUE(is_open(nights, kSaturday, 2)) << "both";
  EXPECT_FALSE(is_open(nights, kSunday, 2));
  EXPECT_TRUE(is_open(nights, kMonday, 2));
}

TEST(NightWindow, TheNextOneSkipsDaysWithout) {
  Nights nights(Window{60, 360});
  nights.set(kSunday, std::nullopt);
  EXPECT_EQ(nights.next({kMonday, 0})->in, 60);
  EXPECT_EQ(nights.next({kMonday, 60})->in, 1440) << "the one that opens now is open";
  EXPECT_EQ(nights.next({kSaturday, 120})->in, 2 * 1440 - 60);
  for (int day = 0; day < 7; ++day) nights.set(day, std::nullopt);
  EXPECT_FALSE(nights.next({kMonday, 0}));
  nights.set(kMonday, Window{60, 360});
  EXPECT_EQ(nights.next({kMonday, 60})->in, 7 * 1440);
}

TEST(TimeOfDayText, ReadsAndRefuses) {
  EXPECT_EQ(parse_time_of_day("00:00"), 0);
  EXPECT_EQ(parse_time_of_day("23:59"), 1439);
  for (const char* bad : {"", "1:00", "24:00", "12:60", "ab:cd", "12-30", "12:300", "-1:00"}) {
    EXPECT_FALSE(parse_time_of_day(bad)) << bad;
  }
  EXPECT_EQ(time_of_day(65), "01:05");
  EXPECT_EQ(parse_window("22:00-06:30")->text(), "22:00-06:30");
  for (const char* bad : {"", "22:00", "22:00 06:30", "22:00-06:60", "22:00-06:300"})
    EXPECT_FALSE(parse_window(bad)) << bad;
}

TEST(WindowConfiguration, DaysMayHaveTheirOwn) {
  const Config config = parse_config(
      R"({"window": {"start": "02:00", "days": {"fri": "22:00-10:00", "sun": "none"}}})", "f");
  const Nights nights = config.nights();
  EXPECT_TRUE(is_open(nights, kFriday, 22));
  EXPECT_FALSE(is_open(nights, kSunday, 3));
  EXPECT_TRUE(is_open(nights, kMonday, 3));
  EXPECT_EQ(to_json(parse_config(to_json(config).dump(), "f")), to_json(config));
}

TEST(WindowConfiguration, WrongDaysAreNamed) {
  try {
    (void)parse_config(R"({"window": {"days": {"fri": "22-10", "sunday": "none"}}})", "f");
    FAIL();
  } catch (const ValidationError& error) {
    EXPECT_THAT(error.what(), HasSubstr("unknown field \"sunday\"; known: mon"));
  }
  try {
    (void)parse_config(R"({"window": {"days": {"fri": "22-10"}}})", "f");
    FAIL();
  } catch (const ValidationError& error) {
    ASSERT_EQ(error.errors().size(), 1U);
    EXPECT_EQ(error.errors()[0].pointer, "/window/days/fri");
    EXPECT_THAT(error.errors()[0].message, HasSubstr("\"01:00-06:00\", or \"none\""));
  }
}

TEST(WindowConfiguration, AWeekWithoutAnyIsRefused) {
  Json days = Json::object();
  for (const char* day : {"mon", "tue", "wed", "thu", "fri", "sat", "sun"}) days[day] = "none";
  EXPECT_THROW((void)parse_config(Json{{"window", {{"days", days}}}}.dump(), "f"), ValidationError);
}

// Moments in a zone with summer time; the clock of the process is put on a date by hand.
class DatedWorld : public LinuxWorld {
 public:
  explicit DatedWorld(std::time_t now) : LinuxWorld("/nonexistent"), now_(now) {}
  void set(std::time_t now) { now_ = now; }
  LocalTime local_time() const override {
    std::tm parts{};
    ::localtime_r(&now_, &parts);
    return {parts.tm_wday, parts.tm_hour * 60 + parts.tm_min};
  }
  std::int64_t local_moment(int days, int minute) const override {
    return moment_from(now_, days, minute);
  }
  std::int64_t now_milliseconds() const override { return std::int64_t{now_} * 1000; }

 private:
  std::time_t now_;
};

class SummerTime : public ::testing::Test {
 protected:
  SummerTime() {
    if (const char* zone = ::getenv("TZ")) before_ = zone;
    ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    ::tzset();
  }
  ~SummerTime() override {
    before_ ? ::setenv("TZ", before_->c_str(), 1) : ::unsetenv("TZ");
    ::tzset();
  }
  static std::time_t local(int year, int month, int day, int hour, int minute = 0) {
    std::tm parts{};
    parts.tm_year = year - 1900;
    parts.tm_mon = month - 1;
    parts.tm_mday = day;
    parts.tm_hour = hour;
    parts.tm_min = minute;
    parts.tm_isdst = -1;
    return ::mktime(&parts);
  }
  std::optional<std::string> before_;
};

TEST_F(SummerTime, TheNightOfTheChangeHasOneStart) {
  const Nights nights(Window{60, 360});
  for (const auto& [month, day] : {std::pair{3, 29}, {10, 25}}) {
    const std::time_t start = local(2026, month, day, 1);
    for (const int hour : {1, 2, 3, 4, 5}) {
      const std::time_t now = local(2026, month, day, hour, 59);
      EXPECT_EQ(opened_at(nights, DatedWorld(now)), std::int64_t{start} * 1000) << month << hour;
    }
    EXPECT_EQ(opens_at(nights, DatedWorld(start)),
              std::int64_t{local(2026, month, day + 1, 1)} * 1000);
    EXPECT_FALSE(opened_at(nights, DatedWorld(local(2026, month, day, 6))));
  }
}

// How often a window begins for a schedule that is met once in each, minute by minute; and in how
// many nights it is open at all.
struct Begun {
  int met = 0, open = 0;
};

Begun begun(const Nights& nights, std::time_t from, std::time_t to) {
  Begun begun;
  std::int64_t last_due = std::int64_t{from} * 1000;
  std::set<std::string> days;
  DatedWorld world(from);
  for (std::time_t now = from; now < to; now += 600) {
    world.set(now);
    const auto open = nights.open_at(world.local_time());
    EXPECT_EQ(opened_at(nights, world).has_value(), open.has_value());
    if (!open) continue;
    const std::int64_t start = *opened_at(nights, world);
    EXPECT_LE(start, std::int64_t{now} * 1000) << "what is open has begun";
    std::tm day{};
    const std::time_t began = static_cast<std::time_t>(start / 1000);
    ::localtime_r(&began, &day);
    days.insert(std::to_string(day.tm_yday));
    if (last_due >= start) continue;
    last_due = std::int64_t{now} * 1000;
    ++begun.met;
  }
  begun.open = static_cast<int>(days.size());
  return begun;
}

// Zones whose clocks skip, or show twice, an hour or half an hour; at night, at midnight, and in
// winter.
TEST_F(SummerTime, InEveryZoneAWindowBeginsOnceANightWhereverItStartsAndEnds) {
  struct Change {
    const char* zone;
    int month, day;
  };
  for (const auto& [zone, month, day] :
       {Change{"CET-1CEST,M3.5.0,M10.5.0/3", 3, 29}, Change{"CET-1CEST,M3.5.0,M10.5.0/3", 10, 25},
        Change{"EST5EDT,M3.2.0,M11.1.0", 3, 8}, Change{"EST5EDT,M3.2.0,M11.1.0", 11, 1},
        Change{"LHST-10:30LHDT-11,M10.1.0,M4.1.0", 10, 4},
        Change{"LHST-10:30LHDT-11,M10.1.0,M4.1.0", 4, 5},
        Change{"BRT3BRST,M10.3.0/0,M2.3.0/0", 10, 18}, Change{"BRT3BRST,M10.3.0/0,M2.3.0/0", 2, 15},
        Change{"IST-1GMT0,M10.5.0,M3.5.0/1", 3, 29},
        Change{"IST-1GMT0,M10.5.0,M3.5.0/1", 10, 25}}) {
    ::setenv("TZ", zone, 1);
    ::tzset();
    const std::time_t from = local(2026, month, day - 1, 12), to = local(2026, month, day + 2, 12);
    for (int start = 22 * 60; start < 22 * 60 + 7 * 60; start += 15) {
      for (const int length : {30, 105, 360}) {
        const int begin = start % 1440;
        const Nights nights(Window{begin, (begin + length) % 1440});
        const Begun found = begun(nights, from, to);
        EXPECT_EQ(found.met, found.open)
            << zone << " " << Window{begin, (begin + length) % 1440}.text();
        EXPECT_GE(found.met, 2);
        EXPECT_LE(found.met, 3);
      }
    }
  }
}

TEST_F(SummerTime, TheNextWindowLiesAheadAlsoWhereItsStartComesTwice) {
  const Nights nights(Window{150, 360});  // 02:30
  const std::time_t start = local(2026, 10, 25, 0, 0);
  for (std::time_t now = start; now < start + 8 * 3600; now += 300) {
    const auto next = opens_at(nights, DatedWorld(now));
    ASSERT_TRUE(next);
    EXPECT_GT(*next, std::int64_t{now} * 1000) << (now - start) / 60;
  }
}

TEST_F(SummerTime, WindowsThatHaveGoneByAreListed) {
  const Nights nights(Window{60, 360});
  const auto gone = windows_gone(nights, DatedWorld(local(2026, 3, 31, 12)));
  EXPECT_EQ(gone.size(), 100U);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(gone[static_cast<std::size_t>(i)], std::int64_t{local(2026, 3, 31 - i, 1)} * 1000);
  EXPECT_EQ(windows_gone(nights, DatedWorld(local(2026, 3, 31, 3))).front(),
            std::int64_t{local(2026, 3, 30, 1)} * 1000)
      << "the one that is open has not gone by";
}

}  // namespace
}  // namespace moil::daemon::test
