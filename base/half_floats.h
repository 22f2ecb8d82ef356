// 16-bit floats: bfloat16, the upper half of a float, and binary16 of IEEE 754, which files have.
// Widening loses nothing. Plain loops that compilers turn into vector code. Safe from any thread.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace moil {

inline float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// Rounds to nearest, ties to even. Infinities stay; a NaN stays a (quiet) NaN.
inline std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40u;
  return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

// Neither side needs to be aligned.
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
    to[i] = from_bf16(half);
  }
}

// Sign, 5 bits of exponent (bias 15), 10 bits of fraction.
inline float from_f16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  float value = 0;
  if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<float>::infinity()
                          : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    value = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

// Rounds to nearest, ties to even; what is beyond the largest is infinite. A NaN stays a (quiet)
// NaN.
inline std::uint16_t to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
  const float magnitude = std::bit_cast<float>(size);
  std::uint32_t half = 0;
  if (size > 0x7f800000u) {
    half = 0x7e00u;
  } else if (magnitude >= 65520.0F) {
    half = 0x7c00u;
  } else if (magnitude < 6.103515625e-05F) {  // steps of 2^-24, which are those of floats near 0.5
    half = std::bit_cast<std::uint32_t>(magnitude + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
  } else {
    half = ((size + 0xfffu + (size >> 13 & 1u)) >> 13) - (112u << 10);
  }
  return static_cast<std::uint16_t>(sign | half);
}

}  // namespace moil
