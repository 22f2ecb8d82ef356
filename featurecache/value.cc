#include "featurecache/value.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/half_floats.h"
#include "base/hash.h"

namespace moil::cache {
namespace {

constexpr std::size_t kChecksumAt = 8;

std::size_t element_bytes(StoredType type) { return type == StoredType::kFp32 ? 4 : 2; }

// Key and the header's first half seed the payload's hash: one pass, nothing copied.
std::uint64_t checksum(const EncodedKey& key, const std::uint8_t* header,
                       std::span<const std::uint8_t> payload) {
  std::array<std::uint8_t, EncodedKey::kPart + kChecksumAt> prefix;
  std::copy_n(header, kChecksumAt, std::copy(key.begin(), key.end(), prefix.begin()));
  return hash64(payload, hash64(std::span(prefix).first(key.size() + kChecksumAt)));
}

}  // namespace

std::size_t value_bytes(StoredType type, std::size_t elements) {
  return kValueHeaderBytes + elements * element_bytes(type);
}

void encode_value(const EncodedKey& key, StoredType type, std::span<const float> elements,
                  std::uint8_t* out) {
  const auto count = static_cast<std::uint32_t>(elements.size());
  std::memset(out, 0, kValueHeaderBytes);
  std::memcpy(out, &count, sizeof count);
  out[4] = static_cast<std::uint8_t>(type);
  std::uint8_t* payload = out + kValueHeaderBytes;
  if (type == StoredType::kBf16) {
    narrow_to_bf16(elements.data(), elements.size(), payload);
  } else if (!elements.empty()) {
    std::memcpy(payload, elements.data(), elements.size_bytes());
  }
  const std::uint64_t sum = checksum(key, out, {payload, elements.size() * element_bytes(type)});
  std::memcpy(out + kChecksumAt, &sum, sizeof sum);
}

std::optional<ValueView> check_value(const EncodedKey& key, std::span<const std::uint8_t> value) {
  if (value.size() < kValueHeaderBytes) return std::nullopt;
  ValueView view{static_cast<StoredType>(value[4]), 0, value.data() + kValueHeaderBytes};
  std::memcpy(&view.elements, value.data(), sizeof view.elements);
  if (view.type != StoredType::kFp32 && view.type != StoredType::kBf16) return std::nullopt;
  if (value.size() != value_bytes(view.type, view.elements)) return std::nullopt;
  std::uint64_t stored;
  std::memcpy(&stored, value.data() + kChecksumAt, sizeof stored);
  const auto payload = value.subspan(kValueHeaderBytes);
  if (stored != checksum(key, value.data(), payload)) return std::nullopt;
  return view;
}

void expand(const ValueView& view, float* out) {
  if (view.type == StoredType::kBf16) {
    widen_from_bf16(view.payload, view.elements, out);
  } else if (view.elements != 0) {
    std::memcpy(out, view.payload, std::size_t{view.elements} * 4);
  }
}

void round_as_stored(StoredType type, std::span<float> elements) {
  if (type == StoredType::kFp32) return;
  for (float& x : elements) x = from_bf16(to_bf16(x));
}

}  // namespace moil::cache
