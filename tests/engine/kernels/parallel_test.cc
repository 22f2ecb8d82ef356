#include "engine/kernels/parallel.h"

#include <gtest/gtest.h>

#include <vector>

namespace moil {
namespace {

TEST(Parallel, EveryItemOnceInContiguousParts) {
  for (const std::int64_t count : {0, 1, 2, 7, 100, 1001}) {
    for (const std::int64_t grain : {0, 1, 10, 1000}) {
      std::vector<int> seen(static_cast<std::size_t>(count));
      parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
      });
      EXPECT_EQ(seen, std::vector<int>(static_cast<std::size_t>(count), 1));
    }
  }
}

TEST(Parallel, PartsAreNumberedAndNoneIsBelowTheGrain) {
  const std::int64_t count = 1000, grain = 300;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(part_count(count, grain)));
  parallel_for(count, grain, [&](int part, std::int64_t begin, std::int64_t end) {
    sizes[static_cast<std::size_t>(part)] = end - begin;
  });
  for (const std::int64_t size : sizes) EXPECT_GE(size, grain);
}

TEST(Parallel, PartsAreCutAtUnits) {
  std::int64_t next = 0;
  for (int part = 0; part < 3; ++part) {
    const Range r = part_of(100, part, 3, 12);
    EXPECT_EQ(r.begin, next);
    EXPECT_EQ(r.begin % 12, 0);
    next = r.end;
  }
  EXPECT_EQ(next, 100);
}

TEST(Parallel, MayBeNested) {
  std::vector<int> seen(64);
  parallel_for(8, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      parallel_for(8, 1, [&](std::int64_t b, std::int64_t e) {
        for (std::int64_t j = b; j < e; ++j) ++seen[static_cast<std::size_t>(i * 8 + j)];
      });
  });
  EXPECT_EQ(seen, std::vector<int>(64, 1));
}

}  // namespace
}  // namespace moil
