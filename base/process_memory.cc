#include "base/process_memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace moil {
namespace {

// Segments that nobody writes are pages of the library's file.
int drop_clean_segments(dl_phdr_info* info, std::size_t, void*) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = (info->dlpi_addr + segment.p_vaddr) / page * page;
    const std::uintptr_t end = info->dlpi_addr + segment.p_vaddr + segment.p_filesz;
    (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

ResidentMemory resident_memory() {
  ResidentMemory memory;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) memory.bytes = std::stoull(line.substr(6)) * 1024;
    if (line.starts_with("VmHWM:")) memory.peak_bytes = std::stoull(line.substr(6)) * 1024;
  }
  return memory;
}

void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

void return_freed_memory() { ::mallopt(M_MMAP_THRESHOLD, 1 << 20); }

void release_idle_memory() {
  ::malloc_trim(0);
  ::dl_iterate_phdr(drop_clean_segments, nullptr);
}

}  // namespace moil
