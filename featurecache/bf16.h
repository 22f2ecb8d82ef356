// bfloat16: the upper half of a float. Plain loops that compilers turn into vector code.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace moil::cache {

// Round to nearest, ties to even; infinities stay, a NaN stays a (quiet) NaN.
inline std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40u;
  return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

// Neither side needs to be aligned: small LMDB values are not.
inline void narrow_to_bf16(const float* from, std::size_t count, std::uint8_t* to) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t half = to_bf16(from[i]);
    std::memcpy(to + 2 * i, &half, 2);
  }
}

inline void widen_from_bf16(const std::uint8_t* from, std::size_t count, float* to) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t half;
    std::memcpy(&half, from + 2 * i, 2);
    to[i] = std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
  }
}

}  // namespace moil::cache
