// gather() is on the training loop's hot path: it must not allocate.
#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/featurecache/helpers.h"

namespace {
std::atomic<std::uint64_t> allocations = 0;
}  // namespace

__attribute__((noinline)) void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace moil::cache {
namespace {

TEST(Allocation, NoneInGather) {
  for (const StoredType type : {StoredType::kFp32, StoredType::kBf16}) {
    const TempFolder folder;
    FeatureCache cache(folder.cache(), {.stored_as = type});
    fill(cache, 1, 32, 1280);
    std::vector<FeatureKey> keys;
    for (std::uint32_t i = 0; i < 32; ++i) keys.push_back(key_of(1, i));
    std::vector<float> out(keys.size() * 1280);
    std::vector<std::uint8_t> found(keys.size());
    cache.gather(keys, out.data(), 1280);  // the first call makes the snapshot that is reused
    const std::uint64_t before = allocations;
    for (int i = 0; i < 10; ++i) {
      cache.gather(keys, out.data(), 1280);
      cache.find(keys, out.data(), 1280, found);
      cache.contains(keys, found, Depth::kChecksum);
    }
    EXPECT_EQ(allocations - before, 0u);
    EXPECT_GT(before, 0u);
  }
}

}  // namespace
}  // namespace moil::cache
