// Lengths of time in milliseconds, as the wall clock is kept.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>

namespace moil {

constexpr std::int64_t kSecond = 1000, kMinute = 60 * kSecond, kDay = 24 * 60 * kMinute;

inline std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(std::llround(1000 * seconds));
}

}  // namespace moil
