#include "datasets/identity/likeness.h"

#include <bit>

#include "datasets/identity/digest.h"

namespace moil::data {
namespace {

constexpr int kMostApart = 16, kLeastShared = 4;

std::uint64_t big_endian(std::span<const std::uint8_t, 8> bytes) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

}  // namespace

std::array<std::uint8_t, 16> Likeness::bytes() const {
  std::array<std::uint8_t, 16> raw{};
  for (std::size_t i = 0; i < 8; ++i) {
    raw[i] = static_cast<std::uint8_t>(across >> (56 - 8 * i));
    raw[8 + i] = static_cast<std::uint8_t>(down >> (56 - 8 * i));
  }
  return raw;
}

// Written as a digest is.
Likeness Likeness::from_bytes(std::span<const std::uint8_t> raw) {
  const Digest checked = Digest::from_bytes(raw);
  const std::span all(checked.bytes);
  return {big_endian(all.first<8>()), big_endian(all.last<8>())};
}

std::string Likeness::hex() const { return Digest{bytes()}.hex(); }

Likeness Likeness::from_hex(std::string_view text) {
  return from_bytes(Digest::from_hex(text).bytes);
}

int distance(const Likeness& a, const Likeness& b) {
  return std::popcount(a.across ^ b.across) + std::popcount(a.down ^ b.down);
}

bool look_alike(const Likeness& a, const Likeness& b) {
  const int apart = distance(a, b);
  if (apart > kMostApart) return false;
  const int either = std::popcount(a.across | b.across) + std::popcount(a.down | b.down);
  return kLeastShared * apart <= either;
}

}  // namespace moil::data
