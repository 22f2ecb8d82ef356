// Threads, processes, and processes that are killed.
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "tests/featurecache/helpers.h"

namespace moil::cache {
namespace {

constexpr std::size_t kElements = 1500;

// A counter that parent and child see.
class SharedCounter {
 public:
  SharedCounter()
      : value_(static_cast<std::atomic<std::uint32_t>*>(
            ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~SharedCounter() { ::munmap(value_, 4096); }
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;
  std::atomic<std::uint32_t>& operator*() const { return *value_; }
  void wait_until(std::uint32_t at_least) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (*value_ < at_least) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the child does not get on";
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  std::atomic<std::uint32_t>* value_;
};

void write_batches(FeatureCache& cache, std::uint32_t count, std::atomic<std::uint32_t>& flushed) {
  for (std::uint32_t i = 0; i < count; ++i) {
    cache.put(key_of(1, i), features(i, kElements));
    if (i % 8 != 7) continue;
    cache.flush();
    flushed = i + 1;
  }
}

// Gathers random flushed rows until all are written; false at the first wrong value.
bool gather_while(FeatureCache& cache, const std::atomic<std::uint32_t>& flushed,
                  std::uint32_t until, std::uint32_t seed) {
  std::vector<float> out(16 * kElements);
  for (std::uint32_t have = 0; have < until;) {
    have = flushed;
    if (have == 0) continue;
    std::vector<FeatureKey> keys;
    std::vector<std::uint32_t> which;
    for (int i = 0; i < 16; ++i) {
      seed = seed * 1664525 + 1013904223;
      which.push_back((seed >> 8) % have);
      keys.push_back(key_of(1, which.back()));
    }
    cache.gather(keys, out.data(), kElements);
    for (std::size_t row = 0; row < which.size(); ++row) {
      const auto begin = out.begin() + static_cast<std::ptrdiff_t>(row * kElements);
      if (!std::equal(begin, begin + kElements, features(which[row], kElements).begin())) {
        return false;
      }
    }
  }
  return true;
}

TEST(Threads, GatherWhileAnotherWritesAndTheMapGrows) {
  const TempFolder folder;
  FeatureCache cache(folder.cache(), {.initial_map_bytes = 1 << 20});
  std::atomic<std::uint32_t> flushed = 0;
  std::atomic<int> good = 0;
  std::vector<std::jthread> readers;
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    readers.emplace_back([&, seed] { good += gather_while(cache, flushed, 1600, seed); });
  }
  write_batches(cache, 1600, flushed);
  readers.clear();
  EXPECT_EQ(good, 3);
  EXPECT_GT(cache.stats().map_bytes, 8u << 20) << "the map was meant to grow meanwhile";
  EXPECT_TRUE(cache.verify().ok());
}

TEST(Threads, GcForgetAndReclaimBesideReaders) {
  const TempFolder folder;
  FeatureCache cache(folder.cache());
  std::atomic<std::uint32_t> flushed = 0;
  cache.use_model(model(1), "kept");
  write_batches(cache, 200, flushed);
  std::atomic<std::uint32_t> limit = 200;
  std::atomic<bool> good = false;
  std::jthread reader([&] { good = gather_while(cache, limit, 201, 5); });
  for (int round = 0; round < 10; ++round) {
    fill(cache, 2, 50, kElements);
    EXPECT_EQ(cache.gc({}).entries, 50u);
    cache.forget(sample(100000));
  }
  // One entry more ends the reader.
  cache.put(key_of(1, 200), features(200, kElements));
  cache.flush();
  limit = 201;
  reader.join();
  EXPECT_TRUE(good);
  EXPECT_TRUE(cache.verify().ok());
}

TEST(Processes, AReaderFollowsAWriterThatGrowsTheMap) {
  const TempFolder folder;
  const SharedCounter flushed;
  { FeatureCache cache(folder.cache(), {.initial_map_bytes = 1 << 20}); }
  const pid_t writer = spawn([&] {
    FeatureCache cache(folder.cache(), {.initial_map_bytes = 1 << 20});
    write_batches(cache, 1600, *flushed);
  });
  FeatureCache cache(folder.cache(), {.initial_map_bytes = 1 << 20, .read_only = true});
  EXPECT_TRUE(gather_while(cache, *flushed, 1600, 9));
  EXPECT_EQ(wait_for(writer), 0);
  EXPECT_TRUE(cache.verify().ok());
}

TEST(Processes, TwoWritersTakeTurns) {
  const TempFolder folder;
  const pid_t other = spawn([&] {
    FeatureCache cache(folder.cache(), {.initial_map_bytes = 1 << 20, .batch_entries = 5});
    fill(cache, 2, 400, kElements);
  });
  {
    FeatureCache cache(folder.cache(), {.initial_map_bytes = 1 << 20, .batch_entries = 7});
    fill(cache, 1, 400, kElements);
    EXPECT_EQ(wait_for(other), 0);
    for (std::uint32_t i = 0; i < 400; ++i) {
      ASSERT_EQ(get(cache, key_of(2, i), kElements), features(i, kElements));
    }
    EXPECT_EQ(cache.stats().entries, 800u);
    EXPECT_TRUE(cache.verify().ok());
  }
}

// Killed at any point of writing: what was flushed is there, the rest is whole or absent.
TEST(Processes, KilledWhileWriting) {
  const TempFolder folder;
  for (int round = 0; round < 8; ++round) {
    const SharedCounter flushed;
    const pid_t child = spawn([&] {
      FeatureCache cache(folder.cache(), {.initial_map_bytes = 1 << 20});
      for (;;) write_batches(cache, 4000, *flushed);
    });
    flushed.wait_until(8 + static_cast<std::uint32_t>(round) * 24);
    std::this_thread::sleep_for(std::chrono::microseconds(round * 370));
    ::kill(child, SIGKILL);
    EXPECT_TRUE(WIFSIGNALED(wait_for(child)));
    FeatureCache cache(folder.cache(), {.initial_map_bytes = 1 << 20});
    for (std::uint32_t i = 0; i < *flushed; ++i) {
      ASSERT_EQ(get(cache, key_of(1, i), kElements), features(i, kElements)) << round;
    }
    const VerifyReport report = cache.verify();
    EXPECT_TRUE(report.ok());
    EXPECT_GE(report.entries, *flushed);
    cache.gc({});
  }
}

// A dead reader's snapshot would pin its pages for ever.
TEST(Processes, AKilledReaderPinsNothing) {
  const TempFolder folder;
  const SharedCounter reading;
  { FeatureCache cache(folder.cache()); }
  const pid_t child = spawn([&] {
    FeatureCache cache(folder.cache());
    fill(cache, 1, 100, kElements);
    for (;;) {
      cache.verify();
      ++*reading;
    }
  });
  reading.wait_until(3);
  ::kill(child, SIGKILL);
  wait_for(child);
  FeatureCache cache(folder.cache());
  cache.gc({});
  const CacheStats stats = cache.stats();
  EXPECT_EQ(stats.entries, 0u);
  EXPECT_LT(stats.disk_bytes, 200000u) << "of " << stats.file_bytes;
}

}  // namespace
}  // namespace moil::cache
