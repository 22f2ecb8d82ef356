#include "featurecache/resident_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>

#include "featurecache/cache.h"

namespace moil::cache {
namespace {

// Counting costs about as much as a page fault.
constexpr unsigned kTouchesPerCount = 4;

}  // namespace

ResidentPages::ResidentPages() : counters_(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) {}

// LMDB does not say where its map lies.
void ResidentPages::set_map(const void* inside) {
  begin_ = end_ = 0;
  if (inside == nullptr) return;
  const auto address = reinterpret_cast<std::uintptr_t>(inside);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    std::uint64_t offset = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %*s %" SCNx64, &begin, &end,
                    &offset) != 3)
      continue;
    if (address < begin || address >= end) continue;
    begin_ = begin;
    end_ = end;
    offset_ = static_cast<off_t>(offset);
    break;
  }
  before_ = resident_bytes();
}

std::optional<off_t> ResidentPages::file_offset(const void* inside) const {
  const auto address = reinterpret_cast<std::uintptr_t>(inside);
  if (address < begin_ || address >= end_) return std::nullopt;
  return offset_ + static_cast<off_t>(address - begin_);
}

std::size_t ResidentPages::resident_bytes() const {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  char text[128];
  const ssize_t n = ::pread(counters_.get(), text, sizeof text - 1, 0);
  if (n <= 0) return 0;
  text[n] = 0;
  std::size_t shared = 0;
  return std::sscanf(text, "%*u %*u %zu", &shared) == 1 ? shared * page : 0;
}

void ResidentPages::touched() {
  if (touches_.fetch_add(1, std::memory_order_relaxed) % kTouchesPerCount != 0) return;
  const std::size_t now = resident_bytes(), before = before_.load(std::memory_order_relaxed);
  if (now < before) before_.store(now, std::memory_order_relaxed);
  if (begin_ == end_ || now < before + kMostResidentBytes) return;
  (void)::madvise(reinterpret_cast<void*>(begin_), end_ - begin_, MADV_DONTNEED);
  before_.store(resident_bytes(), std::memory_order_relaxed);
}

}  // namespace moil::cache
