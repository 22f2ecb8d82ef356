// What a sample looks like, in 128 bits, of which samples that look alike share most. A kind of
// media tells it of its samples (kinds/kind.h), or of none. A hint to compare by, not an identity.
//
// docs/images.md says how the two bounds were chosen.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace moil::data {

struct Likeness {
  std::uint64_t across = 0, down = 0;

  bool operator==(const Likeness&) const = default;

  [[nodiscard]] std::array<std::uint8_t, 16> bytes() const;  // big-endian, across first
  // kBadData unless raw is 16 bytes long.
  [[nodiscard]] static Likeness from_bytes(std::span<const std::uint8_t> raw);
  [[nodiscard]] std::string hex() const;  // 32 lower-case digits
  // kInvalidArgument unless text is 32 hexadecimal digits.
  [[nodiscard]] static Likeness from_hex(std::string_view text);
};

// How many bits differ, 0 to 128.
[[nodiscard]] int distance(const Likeness& a, const Likeness& b);

// One in eight of all bits, and one in four of those that either has set, may differ: of a photo
// about half are set; of a drawing on an empty ground few, and then few may differ.
[[nodiscard]] bool look_alike(const Likeness& a, const Likeness& b);

// Samples of one scene differ in no more bits than this, however many lie between them.
inline constexpr int kWidestScene = 32;

}  // namespace moil::data
