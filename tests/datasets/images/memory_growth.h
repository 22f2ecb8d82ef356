#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

#include "base/process_memory.h"

namespace moil::data {

constexpr std::size_t kMiB = 1 << 20;

// What `action` adds to the process at most, in bytes.
inline std::size_t growth(const std::function<void()>& action) {
  reset_peak_memory();
  const std::size_t before = resident_memory().bytes;
  action();
  return std::max(resident_memory().peak_bytes, before) - before;
}

}  // namespace moil::data
