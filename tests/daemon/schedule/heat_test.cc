#include "daemon/schedule/heat.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/process/cpu_limit.h"

namespace moil::daemon {
namespace {

class HeatTest : public ::testing::Test {
 protected:
  static constexpr double kLimit = 75;
  int after(std::int64_t seconds, std::optional<double> celsius, int all = 8) {
    now_ += seconds * 1000;
    return heat_.cpus(celsius, kLimit, all, now_);
  }
  Heat heat_;
  std::int64_t now_ = 5;
};

TEST_F(HeatTest, ACoolDeviceOrOneThatDoesNotTellUsesAll) {
  EXPECT_EQ(after(0, 40), 8);
  EXPECT_EQ(after(60, std::nullopt), 8);
  EXPECT_EQ(after(60, 66.9), 8);
}

TEST_F(HeatTest, HalvesAMinuteApartDownToOne) {
  EXPECT_EQ(after(0, 70), 4);
  EXPECT_EQ(after(59, 74), 4) << "it needs time to cool";
  EXPECT_EQ(after(1, 74), 2);
  EXPECT_EQ(after(60, 74), 1);
  EXPECT_EQ(after(60, 74), 1);
  EXPECT_EQ(after(60, 74), 1);
  EXPECT_EQ(after(60, 50), 2) << "halvings that did nothing are not counted";
}

TEST_F(HeatTest, ComesBackOnlyWhenItIsCool) {
  EXPECT_EQ(after(0, 70), 4);
  EXPECT_EQ(after(600, 65), 4) << "between warm and cool nothing changes";
  EXPECT_EQ(after(0, 61), 8);
}

TEST_F(HeatTest, OneCpuIsNeverTakenAway) { EXPECT_EQ(after(0, 74, 1), 1); }

int cpus_of(pid_t process) {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(::sched_getaffinity(process, sizeof set, &set), 0);
  return CPU_COUNT(&set);
}

TEST(CpuLimit, HoldsForARunningProcessAndIsTakenBack) {
  if (usable_cpus() < 2) GTEST_SKIP() << "this machine has one CPU";
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  EXPECT_EQ(cpus_of(child), usable_cpus());
  EXPECT_TRUE(limit_cpus(child, 1));
  EXPECT_EQ(cpus_of(child), 1);
  EXPECT_TRUE(limit_cpus(child, usable_cpus()));
  EXPECT_EQ(cpus_of(child), usable_cpus());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(limit_cpus(child, 1)) << "it is gone";
}

}  // namespace
}  // namespace moil::daemon
