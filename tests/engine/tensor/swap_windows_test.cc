#include "engine/tensor/swap_windows.h"

#include <gtest/gtest.h>

namespace moil {
namespace {

constexpr int kLastOrder = 15;

// Two tensors that rest between two uses each, on a disk that takes 2.5 orders for either way.
std::vector<SwapLife> windows_of(bool queued, bool chosen = true) {
  SwapTimes times;
  times.order_seconds.assign(kLastOrder + 1, 1.0);
  times.read_bytes_per_second = times.write_bytes_per_second = 2;
  std::vector<SwapLife> lives(2);
  for (int l = 0; l < 2; ++l) {
    lives[static_cast<std::size_t>(l)].bytes = 5;
    lives[static_cast<std::size_t>(l)].uses = {{l, Access::kWrite}, {12 - l, Access::kWrite}};
    lives[static_cast<std::size_t>(l)].gaps.resize(2);
    lives[static_cast<std::size_t>(l)].gaps[0].chosen = chosen;
  }
  choose_windows(times, kLastOrder, queued, /*slack=*/1, lives);
  return lives;
}

TEST(SwapWindows, AreAsLongAsTheirTransfers) {
  for (const auto& lives : {windows_of(false), windows_of(true, /*chosen=*/false)}) {
    for (const SwapLife& life : lives) {
      EXPECT_EQ(life.gaps[0].lookahead, 3);
      EXPECT_EQ(life.gaps[0].tail, 2 + 1);
    }
  }
}

// The load before order 12 begins 2.5 orders ahead of it, in 9; by then that before order 11 is
// done, which so begins in 7. Stores wait for each other in the same way.
TEST(SwapWindows, TransfersOfOneDiskWaitForEachOther) {
  const auto lives = windows_of(true);
  EXPECT_EQ(lives[0].gaps[0].lookahead, 12 - 9);
  EXPECT_EQ(lives[1].gaps[0].lookahead, 11 - 7);
  EXPECT_EQ(lives[0].gaps[0].tail, 3 - 0);
  EXPECT_EQ(lives[1].gaps[0].tail, 6 - 1);
}

}  // namespace
}  // namespace moil
