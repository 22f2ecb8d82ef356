// XXH3: checksums, and names of content. Not a defence: it is no cryptographic hash.
//
// Safe from any thread; a Hasher belongs to one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct XXH3_state_s;

namespace moil {

using ByteView = std::span<const std::uint8_t>;
using Hash128 = std::array<std::uint8_t, 16>;  // big-endian, as it is printed

[[nodiscard]] std::uint64_t hash64(ByteView content, std::uint64_t seed = 0);
[[nodiscard]] std::uint64_t hash64(std::string_view content, std::uint64_t seed = 0);
[[nodiscard]] Hash128 hash128(ByteView content);

// The same of content that comes in pieces.
class Hasher {
 public:
  Hasher();  // kResourceExhausted

  void add(ByteView piece);
  void add(const void* data, std::size_t bytes);
  [[nodiscard]] std::uint64_t hash64() const;
  [[nodiscard]] Hash128 hash128() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;  // of which both lengths are digests
};

// Two lower-case hexadecimal digits a byte.
[[nodiscard]] std::string to_hex(ByteView bytes);
// The inverse; false unless the text has two hexadecimal digits, of either case, for each byte.
[[nodiscard]] bool from_hex(std::string_view text, std::span<std::uint8_t> bytes);

}  // namespace moil
