// What this process holds of the machine's memory, and giving back what it does not need.
//
// Linux alone; thread-safe.
#pragma once

#include <cstddef>

namespace moil {

struct ResidentMemory {
  std::size_t bytes = 0;       // VmRSS
  std::size_t peak_bytes = 0;  // VmHWM: the most since the start or reset_peak_memory()
};
// Zeros if /proc/self/status cannot be read.
ResidentMemory resident_memory();
void reset_peak_memory();

// From here on, what is freed of more than a MiB goes back to the system at once, whatever was
// allocated before (glibc keeps more and more of it for itself).
void return_freed_memory();

// Gives back the heap's free pages, and the code of libraries that is not running at the moment:
// planning and compiling kernels touch many pages of it that steps never do. What is needed again
// comes back from the system's page cache.
void release_idle_memory();

}  // namespace moil
