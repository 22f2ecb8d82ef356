#include "engine/tensor/memory_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>

#include "base/error.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace moil {
namespace {

constexpr std::size_t kHugePage = 2 << 20;

// So many bytes (whole pages) at a multiple of `alignment`; null if the system refuses.
std::byte* map_aligned(std::size_t bytes, std::size_t alignment) {
  void* mapped = ::mmap(nullptr, bytes + alignment, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const all = static_cast<std::byte*>(mapped);
  const std::size_t before = alignment - reinterpret_cast<std::uintptr_t>(all) % alignment;
  ::munmap(all, before);
  if (before < alignment) ::munmap(all + before + bytes, alignment - before);
  return all + before;
}

}  // namespace

MemoryPool::MemoryPool(std::size_t bytes, Options options) : bytes_(bytes) {
  if (bytes == 0) return;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::string what = "cannot map a memory pool of " + std::to_string(bytes) + " bytes";
  if (bytes > std::numeric_limits<std::size_t>::max() - 2 * kHugePage)
    throw system_error(what, ENOMEM);
  mapped_ = (bytes + page - 1) / page * page;
  base_ = map_aligned(mapped_, options.huge_pages ? std::max(kHugePage, page) : page);
  if (base_ == nullptr) throw system_error(what, errno);
  // Advice: if the kernel has no huge pages, small ones serve.
  if (options.huge_pages) (void)::madvise(base_, mapped_, MADV_HUGEPAGE);
}

MemoryPool::~MemoryPool() {
  if (mapped_ == 0 || is_abandoned_) return;
  // The addresses may come back from the next mmap: they must not stay poisoned.
  unpoison(0, bytes_);
  ::munmap(base_, mapped_);
}

void MemoryPool::discard(std::size_t offset, std::size_t bytes) const {
  check_range(offset, bytes);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t begin = (offset + page - 1) / page * page, end = (offset + bytes) / page * page;
  if (begin < end) (void)::madvise(base_ + begin, end - begin, MADV_DONTNEED);
}

void MemoryPool::poison(std::size_t offset, std::size_t bytes) const {
  check_range(offset, bytes);
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(base_ + offset, bytes);
#endif
}

void MemoryPool::unpoison(std::size_t offset, std::size_t bytes) const {
  check_range(offset, bytes);
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(base_ + offset, bytes);
#endif
}

void MemoryPool::check_range(std::size_t offset, std::size_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset) {
    throw Error(ErrorCode::kInternal,
                "bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes) +
                    " are outside the memory pool of " + std::to_string(bytes_));
  }
}

}  // namespace moil
