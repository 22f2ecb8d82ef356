// One stored feature map: 16 bytes of header, then the elements (docs/cache-format.md).
//
// The checksum covers the key, the header and the elements, so that a value found under a wrong key
// is as visible as a flipped bit. Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "featurecache/key.h"

namespace moil::cache {

enum class StoredType : std::uint8_t { kFp32 = 1, kBf16 = 2 };

inline constexpr std::size_t kValueHeaderBytes = 16;

// Bytes of a value with that many elements, header included.
std::size_t value_bytes(StoredType type, std::size_t elements);

// Writes value_bytes(type, elements.size()) bytes to out; at most 2^32 - 1 elements.
void encode_value(const EncodedKey& key, StoredType type, std::span<const float> elements,
                  std::uint8_t* out);

// Points into the bytes it was made from.
struct ValueView {
  StoredType type;
  std::uint32_t elements;
  const std::uint8_t* payload;  // of any alignment
};

// Nothing if the value is damaged or belongs to another key.
[[nodiscard]] std::optional<ValueView> check_value(const EncodedKey& key,
                                                   std::span<const std::uint8_t> value);

// Writes view.elements floats.
void expand(const ValueView& view, float* out);

// Makes of elements what they are once they were stored so and expanded.
void round_as_stored(StoredType type, std::span<float> elements);

}  // namespace moil::cache
