#include "daemon/spec/calendar.h"

#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"

namespace moil::daemon {
namespace {

using ::testing::HasSubstr;

// "2026-11-27 02:30:00" in UTC.
std::int64_t utc(const std::string& text) {
  std::tm time{};
  EXPECT_NE(::strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &time), nullptr) << text;
  return ::timegm(&time);
}

std::string shown(std::optional<std::int64_t> moment) {
  if (!moment) return "never";
  const auto time = static_cast<std::time_t>(*moment);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

class CalendarTest : public ::testing::Test {
 protected:
  CalendarTest() { zone("UTC"); }
  ~CalendarTest() override { zone("UTC"); }
  static void zone(const char* name) {
    ::setenv("TZ", name, 1);
    ::tzset();
  }
  static std::string next(const std::string& text, const std::string& after) {
    return shown(Calendar(text).next(utc(after)));
  }
};

// A Friday.
constexpr const char* kNow = "2026-11-27 02:25:30";

TEST_F(CalendarTest, NamesTheNextMoment) {
  const std::pair<const char*, const char*> expected[] = {
      {"02:30", "2026-11-27 02:30:00"},
      {"02:25", "2026-11-28 02:25:00"},
      {"Mon..Thu 02:30", "2026-11-30 02:30:00"},
      {"Sat,Sun 9..17:00/20", "2026-11-28 09:00:00"},
      {"*-*-1,15 03:00", "2026-12-01 03:00:00"},
      {"*-02~03", "2027-02-26 00:00:00"},
      {"*-*~07/1 03:00", "2026-11-27 03:00:00"},
      {"Mon *-05~07/1", "2027-05-31 00:00:00"},
      {"*-02-29", "2028-02-29 00:00:00"},
      {"Mon *-02-29", "2044-02-29 00:00:00"},
      {"8-2", "2027-08-02 00:00:00"},
      {"10:00:*", "2026-11-27 10:00:00"},
      {"*:2/3", "2026-11-27 02:26:00"},
      {"daily", "2026-11-28 00:00:00"},
      {"weekly", "2026-11-30 00:00:00"},
      {"hourly", "2026-11-27 03:00:00"},
      {"quarterly", "2027-01-01 00:00:00"},
      {"2026-11-29 03:00 UTC", "2026-11-29 03:00:00"},
      {"2020-*-* 03:00", "never"},
      {"26-12-31", "2026-12-31 00:00:00"},
      {"*-02-30", "never"},
  };
  for (const auto& [text, moment] : expected) EXPECT_EQ(next(text, kNow), moment) << text;
}

TEST_F(CalendarTest, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> refused[] = {
      {"", "empty"},
      {"24:00", "no hour from 0 to 23"},
      {"*/2:00", "no hour"},
      {"*-13-01", "no month"},
      {"Fri..Mon", "ends before it begins"},
      {"5..1:00", "ends before it begins"},
      {"Someday 03:00", "no weekday"},
      {"03:00 Europe/Berlin", "the time zone Europe/Berlin; leave it out"},
      {"03:00 04:00", "\"04:00\" is no part of it"},
      {"*:0/0", "no minute"},
      {"1:2:3:4", "no time"},
      {"1-2-3-4", "no date"},
      {"*-*~*", "needs a day"},
      {"1969-01-01", "before 1970"},
      {"03:00:00.5", "no second"},
      {"night", "no weekday"},
      {"99999999999:00", "no hour"},
  };
  for (const auto& [text, why] : refused) {
    try {
      (void)Calendar(text);
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
      EXPECT_THAT(e.what(), HasSubstr(why)) << text;
    }
  }
}

// Clocks go from 2:00 to 3:00 on 28 March, and from 3:00 to 2:00 on 25 October.
TEST_F(CalendarTest, ChangesOfClocks) {
  if (!std::filesystem::exists("/usr/share/zoneinfo/Europe/Berlin"))
    GTEST_SKIP() << "no time zones";
  zone("Europe/Berlin");
  EXPECT_EQ(next("02:30", "2027-03-27 23:00:00"), "2027-03-29 00:30:00");  // 28 March has none
  EXPECT_EQ(next("03:30", "2027-03-27 23:00:00"), "2027-03-28 01:30:00");
  EXPECT_EQ(next("02:30", "2026-10-24 20:00:00"), "2026-10-25 00:30:00");  // the first of two
  EXPECT_EQ(next("02:30", "2026-10-25 00:00:01"), "2026-10-25 00:30:00");  // also from within
  EXPECT_EQ(next("02:30", "2026-10-25 00:59:59"), "2026-10-26 01:30:00");
  EXPECT_EQ(next("02:30 UTC", "2027-03-27 23:00:00"), "2027-03-28 02:30:00");
}

// What systemd says, from "(in UTC): Fri 2026-11-27 01:30:00 UTC".
std::vector<std::string> by_systemd(const std::string& text, const std::string& after, int count) {
  const std::string command = "systemd-analyze calendar --iterations=" + std::to_string(count) +
                              " --base-time='" + after + " UTC' '" + text + "' 2>&1";
  std::vector<std::string> moments;
  std::FILE* out = ::popen(command.c_str(), "r");
  std::array<char, 256> line{};
  while (std::fgets(line.data(), line.size(), out) != nullptr) {
    const std::string found(line.data());
    const std::size_t at = found.find("(in UTC): ");
    if (at != std::string::npos) moments.push_back(found.substr(at + 14, 19));
  }
  ::pclose(out);
  return moments;
}

TEST_F(CalendarTest, AgreesWithSystemd) {
  if (std::system(
          "systemd-analyze calendar --iterations=2 --base-time=now daily >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "no systemd-analyze";
  if (!std::filesystem::exists("/usr/share/zoneinfo/Europe/Berlin"))
    GTEST_SKIP() << "no time zones";
  zone("Europe/Berlin");
  const char* texts[] = {"02:30",
                         "*:0/7",
                         "Mon..Fri *-*-* 01..05:30",
                         "*-*~1 04:00",
                         "*-*~3..5 04:00",
                         "*-1..6/2-10..20",
                         "Sun *-*-1..7 03:15",
                         "*-*-31 00:00",
                         "*-02-29",
                         "Sat 2..3:0/20",
                         "monthly",
                         "*-4,10-25..31 *:30:10/25",
                         "*-*~31 06:00",
                         "weekly",
                         "23:59:59",
                         "Tue,Thu..Sat *-*-13 12:00"};
  const char* moments[] = {"2027-03-27 22:10:00", "2026-10-24 21:15:30", "2028-02-28 23:00:00",
                           "2026-12-31 20:58:12"};
  for (const char* text : texts) {
    for (const char* after : moments) {
      std::int64_t at = utc(after);
      for (const std::string& expected : by_systemd(text, after, 4)) {
        const auto found = Calendar(text).next(at);
        ASSERT_EQ(shown(found), expected) << text << " after " << after;
        at = *found;
      }
    }
  }
}

}  // namespace
}  // namespace moil::daemon
