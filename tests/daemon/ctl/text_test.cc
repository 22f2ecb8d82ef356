#include "daemon/ctl/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace moil::daemon::ctl {
namespace {

using ::testing::ElementsAre;

TEST(Text, ShortTimes) {
  EXPECT_EQ(short_time_text(1.236), "1.24 s");
  EXPECT_EQ(short_time_text(0.1024), "102 ms");
  EXPECT_EQ(short_time_text(0.01579), "15.8 ms");
  EXPECT_EQ(short_time_text(0.00035), "0.35 ms");
}

TEST(Text, NumbersAreAsPeopleWriteThem) {
  EXPECT_EQ(cell(0.009999999999999998), "0.01");
  EXPECT_EQ(cell(0.1 + 0.2), "0.3");
  EXPECT_EQ(cell(3.0), "3");
  EXPECT_EQ(cell(12), "12");
  EXPECT_EQ(cell(0.003162277660168379), "0.00316228");
  EXPECT_EQ(cell(1234567.25), "1234567.25");
  EXPECT_EQ(cell(Json{{"rate", 0.009999999999999998}, {"at", {1, 0.30000000000000004}}}),
            R"({"at":[1,0.3],"rate":0.01})");
  EXPECT_EQ(counted(1, "sample"), "1 sample");
  EXPECT_EQ(counted(0, "sample"), "0 samples");
}

TEST(Text, WidthIsCharacters) {
  EXPECT_EQ(width("ρ = ½"), 5U);
  EXPECT_EQ(padded("ρ", 3), "ρ  ");
  EXPECT_EQ(padded("long", 2), "long");
}

TEST(Text, ShortenedInItsMiddle) {
  EXPECT_EQ(shortened("block1.conv", 11), "block1.conv");
  EXPECT_EQ(shortened("block12.conv.kernel", 11), "bloc...rnel");
  EXPECT_EQ(shortened("ααααββββ", 6), "αα...β");
  EXPECT_EQ(shortened("block", 2), "..");
}

TEST(Text, WrappedBetweenWords) {
  EXPECT_THAT(wrapped("one two three", 7, 9), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("onetwothree", 4, 9), ElementsAre("onet", "woth", "ree"));
  EXPECT_THAT(wrapped("one two three four", 8, 2), ElementsAre("one two", "thr...ur"));
  EXPECT_THAT(wrapped("", 8, 2), ElementsAre());
}

TEST(Text, TimesAreReadAsTheyAreWritten) {
  for (const double seconds : {0.0, 0.5, 59.9, 60.0, 83.4, 3599.9, 3600.0, 7261.5})
    EXPECT_NEAR(seconds_of(clock_text(seconds)).value_or(-1), seconds, 1e-9) << clock_text(seconds);
  EXPECT_EQ(seconds_of("3.25"), 3.25);
  EXPECT_EQ(seconds_of("90"), 90.0);
  EXPECT_EQ(seconds_of("1:00"), 60.0);
  EXPECT_EQ(seconds_of("61:05.5"), 3665.5);
  EXPECT_EQ(seconds_of("1:01:05.5"), 3665.5);
  for (const char* wrong : {"", ":", "1:", ":30", "1:60", "1.5:00", "-1", "1:-2", "x", "1:00x",
                            "nan", "inf", "1:2:3:4", " 1", "1e400"})
    EXPECT_FALSE(seconds_of(wrong)) << wrong;
}

TEST(Text, ATableStandsWhateverIsInIt) {
  const std::string longest(200, 'x'), digest(32, '0');
  const std::vector<std::vector<std::string>> rows = {
      {"LABEL", "SAMPLES"}, {"cat", "3"}, {longest, "1"}};
  EXPECT_THAT(column_widths(rows, 0), ElementsAre(5, 7)) << "the long one flows over in its row";
  EXPECT_THAT(column_widths(rows, 80), ElementsAre(71, 7));
  EXPECT_THAT(column_widths({{digest, longest, "cat"}}, 80), ElementsAre(32, 41, 3));
  EXPECT_THAT(column_widths({{digest, longest, longest}}, 80), ElementsAre(32, 32, 32));
  EXPECT_THAT(column_widths({{"a", "b"}, {"c"}}, 80), ElementsAre(1, 1));
  EXPECT_TRUE(column_widths({}, 80).empty());
}

TEST(Text, ControlCharactersDoNotReachTheTerminal) {
  EXPECT_EQ(printable("a\x1b[2Jb\x7f"), "a?[2Jb?");
  EXPECT_EQ(printable("a\xC2\x9B"
                      "b\xC2\xA0"),
            "a?b\xC2\xA0");
}

}  // namespace
}  // namespace moil::daemon::ctl
