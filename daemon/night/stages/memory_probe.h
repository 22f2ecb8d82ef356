// What this process really used: the high-water mark of its resident memory.
#pragma once

#include <cstddef>

namespace moil::night {

// Makes the libraries take their own buffers, resets the high-water mark and remembers what is
// resident: what the process held before a model was loaded.
class MemoryProbe {
 public:
  MemoryProbe();
  // Bytes above that, at the highest (VmHWM of /proc/self/status; 0 if it cannot be read).
  std::size_t peak_bytes() const;
  // The same of a part alone: from begin_part() on.
  void begin_part();
  std::size_t part_peak_bytes() const;
  std::size_t baseline_bytes() const { return baseline_; }

 private:
  std::size_t baseline_ = 0;
  std::size_t before_part_ = 0;  // the peak
};

}  // namespace moil::night
