#include "featurecache/key.h"

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"

namespace moil::cache {
namespace {

void append_part(std::string& text, std::string_view part) {
  for (int shift = 0; shift < 64; shift += 8) {
    text.push_back(static_cast<char>(static_cast<std::uint64_t>(part.size()) >> shift));
  }
  text.append(part);
}

void parse_hex(std::string_view text, std::span<std::uint8_t> bytes, const char* what) {
  if (from_hex(text, bytes)) return;
  throw Error(ErrorCode::kInvalidArgument,
              std::string(what) + ": expected " + std::to_string(2 * bytes.size()) +
                  " hexadecimal digits, got \"" + std::string(text.substr(0, 64)) + "\"");
}

}  // namespace

ModelId model_id(std::string_view backbone_fingerprint,
                 std::string_view preprocessing_fingerprint) {
  std::string text;
  append_part(text, backbone_fingerprint);
  append_part(text, preprocessing_fingerprint);
  const std::uint64_t hash = hash64(text);
  ModelId id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i)  // big-endian
    id.bytes[i] = static_cast<std::uint8_t>(hash >> (56 - 8 * i));
  return id;
}

SampleDigest sample_digest(std::span<const std::uint8_t> content) { return {hash128(content)}; }

std::string to_hex(const ModelId& id) { return moil::to_hex(id.bytes); }
std::string to_hex(const SampleDigest& digest) { return moil::to_hex(digest.bytes); }

ModelId parse_model_id(std::string_view text) {
  ModelId id;
  parse_hex(text, id.bytes, "model id");
  return id;
}

SampleDigest parse_sample_digest(std::string_view text) {
  SampleDigest digest;
  parse_hex(text, digest.bytes, "sample digest");
  return digest;
}

std::string to_string(const FeatureKey& key) {
  const std::string part = key.part == 0 ? "" : "/" + std::to_string(key.part);
  return to_hex(key.model) + "/" + to_hex(key.sample) + "/" + std::to_string(key.view) + part;
}

EncodedKey::EncodedKey(const FeatureKey& key) {
  auto* out = std::copy(key.model.bytes.begin(), key.model.bytes.end(), bytes_.data());
  out = std::copy(key.sample.bytes.begin(), key.sample.bytes.end(), out);
  *out++ = static_cast<std::uint8_t>(key.view >> 8);
  *out++ = static_cast<std::uint8_t>(key.view & 0xff);
  if (key.part == 0) return;
  size_ = kPart;
  for (int shift = 24; shift >= 0; shift -= 8)
    *out++ = static_cast<std::uint8_t>(key.part >> shift);
}

EncodedKey encode(const FeatureKey& key) { return EncodedKey(key); }

bool decode(std::span<const std::uint8_t> bytes, FeatureKey& key) {
  if (bytes.size() != EncodedKey::kWhole && bytes.size() != EncodedKey::kPart) return false;
  std::copy_n(bytes.begin(), 8, key.model.bytes.begin());
  std::copy_n(bytes.begin() + 8, 16, key.sample.bytes.begin());
  key.view = static_cast<std::uint16_t>(bytes[24] << 8 | bytes[25]);
  key.part = 0;
  if (bytes.size() == EncodedKey::kWhole) return true;
  for (std::size_t i = EncodedKey::kWhole; i < EncodedKey::kPart; ++i)
    key.part = key.part << 8 | bytes[i];
  return key.part != 0;
}

}  // namespace moil::cache
