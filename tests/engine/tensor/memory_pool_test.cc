#include "engine/tensor/memory_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

#include "tests/errors.h"
#include "tests/plain_build.h"

namespace moil {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// Virtual memory of this process, in bytes: pages mapped, touched or not.
std::size_t mapped_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  statm >> pages;
  return pages * 4096;
}

TEST(MemoryPoolTest, IsZeroedAlignedAndWritable) {
  const MemoryPool pool(3 * kMiB + 1);
  EXPECT_EQ(pool.bytes(), 3 * kMiB + 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool.data()) % 4096, 0u);
  EXPECT_EQ(pool.data(128), pool.data() + 128);
  for (std::size_t i = 0; i < pool.bytes(); ++i) ASSERT_EQ(pool.data()[i], std::byte{0});
  pool.as<float>(64)[0] = 2.5f;
  EXPECT_EQ(*reinterpret_cast<float*>(pool.data() + 64), 2.5f);
  *pool.data(3 * kMiB) = std::byte{1};
}

TEST(MemoryPoolTest, GivesItsMemoryBack) {
  MOIL_NEEDS_TRUE_MEMORY();
  const std::size_t before = mapped_bytes();
  {
    const MemoryPool pool(256 * kMiB);
    EXPECT_GE(mapped_bytes(), before + 255 * kMiB) << "the reading's own pages come and go";
  }
  EXPECT_LT(mapped_bytes(), before + 16 * kMiB);
}

TEST(MemoryPoolTest, WhatIsDiscardedIsZeroAndNothingElse) {
  for (const bool huge : {false, true}) {
    const MemoryPool pool(5 * kMiB, {.huge_pages = huge});
    std::fill_n(pool.data(), pool.bytes(), std::byte{7});
    pool.discard(kMiB + 1, kMiB);
    for (const std::size_t at : {kMiB, kMiB + 1, 2 * kMiB, 2 * kMiB + 1, 5 * kMiB - 1})
      EXPECT_EQ(pool.data()[at], std::byte{7}) << at;
    for (const std::size_t at : {kMiB + 4096, kMiB + kMiB / 2, 2 * kMiB - 1})
      EXPECT_EQ(pool.data()[at], std::byte{0}) << at;
    pool.discard(3 * kMiB, 5);
    EXPECT_EQ(pool.data()[3 * kMiB], std::byte{7});
    EXPECT_THROW(pool.discard(5 * kMiB, 1), Error);
  }
}

TEST(MemoryPoolTest, EmptyPool) {
  const MemoryPool pool(0);
  EXPECT_EQ(pool.bytes(), 0u);
  pool.poison(0, 0);
  pool.unpoison(0, 0);
}

TEST(MemoryPoolTest, HugePagesAreOnlyAdvice) {
  for (int i = 0; i < 8; ++i) {
    const MemoryPool pool(5 * kMiB, {.huge_pages = true});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool.data()) % (2 * kMiB), 0U);
    for (const std::size_t at : {std::size_t{0}, 5 * kMiB - 1}) {
      pool.data()[at] = std::byte{7};
      EXPECT_EQ(pool.data()[at], std::byte{7});
    }
  }
}

TEST(MemoryPoolTest, RefusesWhatTheSystemCannotGive) {
  for (const std::size_t bytes :
       {std::numeric_limits<std::size_t>::max(), std::numeric_limits<std::size_t>::max() / 2}) {
    test::expect_error(ErrorCode::kResourceExhausted, std::to_string(bytes),
                       [&] { const MemoryPool pool(bytes); });
  }
}

TEST(MemoryPoolTest, PoisonStaysInsideThePool) {
  const MemoryPool pool(4096);
  EXPECT_THROW(pool.poison(4096, 1), Error);
  EXPECT_THROW(pool.unpoison(1, std::numeric_limits<std::size_t>::max()), Error);
}

TEST(MemoryPoolDeathTest, PoisonedMemoryIsReported) {
#if defined(__SANITIZE_ADDRESS__)
  const MemoryPool pool(4096);
  pool.poison(64, 64);
  *pool.data(0) = std::byte{1};
  EXPECT_DEATH(*static_cast<volatile std::byte*>(pool.data(64)) = std::byte{1}, "poison");
  pool.unpoison(64, 64);
  *pool.data(64) = std::byte{1};
#else
  GTEST_SKIP() << "needs AddressSanitizer";
#endif
}

}  // namespace
}  // namespace moil
