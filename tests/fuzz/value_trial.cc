#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "base/half_floats.h"
#include "featurecache/value.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/trials.h"

namespace moil::test {
namespace {

using namespace cache;

constexpr std::size_t kMostElements = 256;

bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

// If a value is accepted, the same elements give the same bytes.
void check_accepted(const EncodedKey& key, const ValueView& view,
                    std::span<const std::uint8_t> value) {
  std::vector<float> elements(view.elements);
  expand(view, elements.data());
  std::vector<std::uint8_t> again(value_bytes(view.type, view.elements));
  require(again.size() == value.size(), "a value has its elements' size");
  encode_value(key, view.type, elements, again.data());
  const auto again_view = check_value(key, again);
  require(again_view && again_view->elements == view.elements, "a value is read as it was written");
}

// The bytes as elements: written, they are found again under their key alone, and only undamaged.
void check_written(const FeatureKey& key, StoredType type, std::span<const std::uint8_t> bytes) {
  std::vector<float> elements(std::min(bytes.size() / 4, kMostElements));
  if (!elements.empty()) std::memcpy(elements.data(), bytes.data(), elements.size() * 4);
  const EncodedKey encoded(key);
  std::vector<std::uint8_t> value(value_bytes(type, elements.size()));
  encode_value(encoded, type, elements, value.data());
  const auto view = check_value(encoded, value);
  require(view && view->type == type && view->elements == elements.size(),
          "what was written is found");
  std::vector<float> read(elements.size());
  expand(*view, read.data());
  for (std::size_t i = 0; i < read.size(); ++i) {
    const float stored = type == StoredType::kFp32 ? elements[i] : from_bf16(to_bf16(elements[i]));
    require(same_bits(read[i], stored), "with its elements");
  }
  FeatureKey other = key;
  other.view = static_cast<std::uint16_t>(other.view + 1);
  require(!check_value(EncodedKey(other), value), "no other key has it");
  const std::size_t at = bytes.empty() ? 0 : bytes.back() % value.size();
  value[at] ^= 0x10;
  require(!check_value(encoded, value), "a changed byte is seen");
  value[at] ^= 0x10;
  value.pop_back();
  require(!check_value(encoded, value), "and a lost one");
}

}  // namespace

bool try_value(std::span<const std::uint8_t> bytes) {
  FeatureKey key;
  const std::size_t key_bytes =
      bytes.empty() || bytes[0] % 2 == 0 ? EncodedKey::kWhole : EncodedKey::kPart;
  if (bytes.size() < key_bytes) return false;
  if (!decode(bytes.first(key_bytes), key)) return false;
  const EncodedKey encoded(key);
  require(std::ranges::equal(encoded, bytes.first(key_bytes)), "a key is read as it was written");
  const auto rest = bytes.subspan(key_bytes);
  const auto view = check_value(encoded, rest);
  if (view) check_accepted(encoded, *view, rest);
  check_written(key, StoredType::kFp32, rest);
  check_written(key, StoredType::kBf16, rest);
  return view.has_value();
}

}  // namespace moil::test
