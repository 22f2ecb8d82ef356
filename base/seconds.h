// Time that has passed, and the time of day.
#pragma once

#include <chrono>
#include <cstdint>

namespace moil {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Since 1970, by the wall clock.
inline std::int64_t now_milliseconds() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

}  // namespace moil
