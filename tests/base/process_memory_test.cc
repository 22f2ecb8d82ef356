#include "base/process_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

namespace moil {
namespace {

constexpr std::size_t kBytes = 32 << 20;

TEST(ProcessMemory, CountsWhatIsTouchedAndRemembersThePeak) {
  const ResidentMemory before = resident_memory();
  ASSERT_GT(before.bytes, 0u);
  EXPECT_GE(before.peak_bytes, before.bytes);
  void* memory =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, kBytes);
  EXPECT_GT(resident_memory().bytes, before.bytes + kBytes / 2);
  ::munmap(memory, kBytes);
  const ResidentMemory after = resident_memory();
  EXPECT_LT(after.bytes, before.bytes + kBytes / 2);
  EXPECT_GT(after.peak_bytes, before.bytes + kBytes / 2);
}

// The code that asks is itself given back, and goes on.
TEST(ProcessMemory, LetsGoOfWhatIsIdle) {
  release_idle_memory();
  const std::size_t bytes = resident_memory().bytes;
  EXPECT_GT(bytes, 0u);
  std::string text;
  for (int i = 0; i < 100; ++i) text += std::to_string(i);
  EXPECT_EQ(text.substr(0, 4), "0123");
}

}  // namespace
}  // namespace moil
