#include "engine/tensor/gaps.h"

#include <gtest/gtest.h>

#include <random>

namespace moil {
namespace {

// Two at the bottom that never meet, one above that meets both.
struct Three {
  std::vector<MemoryRequest> requests = {{100, 0, 4}, {200, 5, 9}, {64, 0, 9}};
  std::vector<std::size_t> offsets = {0, 0, 512};
  Gaps gaps{requests, std::vector<bool>(3, true), offsets};
};

TEST(Gaps, AreThoseOfAnOrder) {
  const Three t;
  EXPECT_EQ(t.gaps.largest(2, 512), 512u - 128u);
  EXPECT_EQ(t.gaps.largest(7, 512), 512u - 256u);
  EXPECT_EQ(t.gaps.largest(7, 4096), 4096u - 576u);
}

TEST(Gaps, ARequestGoesIntoTheSmallestThatHoldsItAtAllItsOrders) {
  Three t;
  EXPECT_EQ(t.gaps.best({256, 2, 3}), 128u);
  EXPECT_EQ(t.gaps.best({256, 4, 5}), 256u);
  EXPECT_EQ(t.gaps.best({300, 4, 5}), 576u) << "behind everything";
  t.gaps.add({320, 2, 3}, 128);
  EXPECT_EQ(t.gaps.best({64, 2, 2}), 448u);
  EXPECT_EQ(t.gaps.best({64, 4, 4}), 128u);
}

// What is placed overlaps nothing that lives at the same time, and nothing lower would have held it
// tighter.
TEST(Gaps, NothingThatLivesIsOverwritten) {
  std::mt19937 random(1);
  std::vector<MemoryRequest> placed;
  std::vector<std::size_t> offsets;
  Gaps gaps;
  for (int i = 0; i < 300; ++i) {
    const int first = static_cast<int>(random() % 40);
    const MemoryRequest request{64 * (1 + random() % 20), first,
                                first + static_cast<int>(random() % 10)};
    const std::size_t offset = gaps.best(request);
    for (std::size_t other = 0; other < placed.size(); ++other) {
      const bool meets = placed[other].first <= request.last && request.first <= placed[other].last;
      EXPECT_TRUE(!meets || offsets[other] + placed[other].bytes <= offset ||
                  offset + request.bytes <= offsets[other])
          << i << " on " << other;
    }
    gaps.add(request, offset);
    placed.push_back(request);
    offsets.push_back(offset);
  }
}

}  // namespace
}  // namespace moil
