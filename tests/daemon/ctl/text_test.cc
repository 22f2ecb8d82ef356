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

TEST(Text, ControlCharactersDoNotReachTheTerminal) {
  EXPECT_EQ(printable("a\x1b[2Jb\x7f"), "a?[2Jb?");
  EXPECT_EQ(printable("a\xC2\x9B"
                      "b\xC2\xA0"),
            "a?b\xC2\xA0");
}

}  // namespace
}  // namespace moil::daemon::ctl
