#include "daemon/review/sound_addresses.h"

#include <gtest/gtest.h>

namespace moil::review {
namespace {

TEST(SoundAddresses, AreNewLastWhileTheyAreUsedAndEnd) {
  SoundAddresses::Clock::time_point now;
  SoundAddresses addresses([&] { return now; });
  const std::string one = addresses.issue("sound"), two = addresses.issue("sound");
  EXPECT_EQ(one.size(), 64U);
  EXPECT_NE(one, two);
  for (int i = 0; i < 5; ++i) {
    now += SoundAddresses::kUnused;
    EXPECT_EQ(addresses.sound_of(one), "sound");
  }
  EXPECT_FALSE(addresses.sound_of(two));
  EXPECT_FALSE(addresses.sound_of(""));
  EXPECT_FALSE(addresses.sound_of("sound"));
  now += SoundAddresses::kUnused + std::chrono::seconds(1);
  EXPECT_FALSE(addresses.sound_of(one));
}

TEST(SoundAddresses, OnlyTheNewestAreKept) {
  SoundAddresses addresses;
  const std::string first = addresses.issue("first"), second = addresses.issue("second");
  for (std::size_t i = 1; i < SoundAddresses::kMost; ++i) (void)addresses.issue("more");
  EXPECT_FALSE(addresses.sound_of(first));
  EXPECT_EQ(addresses.sound_of(second), "second");
}

}  // namespace
}  // namespace moil::review
