// Under what name a feature map is stored: which model made it, of which sample, which view of it.
//
// A feature map depends on four things, and the key has a field for each:
//   model   the backbone (weights, graph, split point, dtype, arithmetic and provider choices) and
//           the preprocessing in front of it: whatever changes a bit of the result belongs in it;
//   sample  the bytes of the sample, so that a renamed file is found and an edited one is not;
//   view    0 for the plain sample, 1.. for its augmented views, as the caller numbers them;
//   part    which piece of a sample that a network sees in pieces; 0 if it is seen whole.
// Plain values, free functions: safe from any thread.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace moil::cache {

struct ModelId {
  std::array<std::uint8_t, 8> bytes{};
  auto operator<=>(const ModelId&) const = default;
};

struct SampleDigest {
  std::array<std::uint8_t, 16> bytes{};
  auto operator<=>(const SampleDigest&) const = default;
};

struct FeatureKey {
  ModelId model;
  SampleDigest sample;
  std::uint16_t view = 0;
  std::uint32_t part = 0;
  auto operator<=>(const FeatureKey&) const = default;
};

// XXH3-64 of both fingerprints, each preceded by its length. The fingerprints are the caller's own
// canonical texts or digests. 64 bits are ample for the tens of models a device sees; use_model()
// compares descriptions as well, so that even a collision would be noticed.
ModelId model_id(std::string_view backbone_fingerprint, std::string_view preprocessing_fingerprint);

// XXH3-128 of a sample's content.
SampleDigest sample_digest(std::span<const std::uint8_t> content);

std::string to_hex(const ModelId& id);
std::string to_hex(const SampleDigest& digest);
// The inverse; kInvalidArgument unless text is 16 (or 32) hexadecimal digits.
ModelId parse_model_id(std::string_view hex);
SampleDigest parse_sample_digest(std::string_view hex);

// "model/sample/view", and "/part" if it is not 0, for messages.
std::string to_string(const FeatureKey& key);

// The key as LMDB sorts it: model, sample, view, and part if it is not 0 (big endian), so that
// all entries of a model are one range, and all of a sample under a model are one range within it.
class EncodedKey {
 public:
  static constexpr std::size_t kWhole = 26, kPart = 30;  // bytes

  explicit EncodedKey(const FeatureKey& key);
  const std::uint8_t* data() const { return bytes_.data(); }
  std::size_t size() const { return size_; }
  const std::uint8_t* begin() const { return data(); }
  const std::uint8_t* end() const { return data() + size_; }

 private:
  std::array<std::uint8_t, kPart> bytes_{};
  std::size_t size_ = kWhole;
};
EncodedKey encode(const FeatureKey& key);
// False unless bytes has the length of an encoded key.
[[nodiscard]] bool decode(std::span<const std::uint8_t> bytes, FeatureKey& key);

}  // namespace moil::cache
