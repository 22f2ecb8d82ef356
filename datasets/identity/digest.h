// What a sample is called: the XXH3-128 of its content.
//
// Content is the encoded file (JPEG, PNG, WAV bytes), or the pixel bytes if there is no file (a
// row of a CSV). The digest keys the feature cache and makes adding a sample idempotent. It is a
// name, not a defence: XXH3 is not a cryptographic hash.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace moil::data {

struct Digest {
  std::array<std::uint8_t, 16> bytes{};  // big-endian, as XXH128 prints it

  auto operator<=>(const Digest&) const = default;

  [[nodiscard]] std::string hex() const;  // 32 lower-case digits

  // kInvalidArgument unless text is 32 hexadecimal digits.
  [[nodiscard]] static Digest from_hex(std::string_view text);
  // kBadData unless raw is 16 bytes long.
  [[nodiscard]] static Digest from_bytes(std::span<const std::uint8_t> raw);
};

[[nodiscard]] Digest digest_of(std::span<const std::uint8_t> content);
[[nodiscard]] Digest digest_of(std::string_view content);

}  // namespace moil::data

template <>
struct std::hash<moil::data::Digest> {
  std::size_t operator()(const moil::data::Digest& digest) const noexcept {
    std::size_t value;
    std::memcpy(&value, digest.bytes.data(), sizeof value);  // already well mixed
    return value;
  }
};
