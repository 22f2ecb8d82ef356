#include "featurecache/key.h"

#include <xxhash.h>

#include <algorithm>

#include "base/error.h"

namespace moil::cache {
namespace {

void append_part(std::string& text, std::string_view part) {
  for (int shift = 0; shift < 64; shift += 8) {
    text.push_back(static_cast<char>(static_cast<std::uint64_t>(part.size()) >> shift));
  }
  text.append(part);
}

std::string hex(std::span<const std::uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void parse_hex(std::string_view text, std::span<std::uint8_t> bytes, const char* what) {
  bool good = text.size() == 2 * bytes.size();
  for (std::size_t i = 0; good && i < bytes.size(); ++i) {
    const int high = digit(text[2 * i]);
    const int low = digit(text[2 * i + 1]);
    good = high >= 0 && low >= 0;
    bytes[i] = static_cast<std::uint8_t>((high << 4 | low) & 0xff);
  }
  if (good) return;
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
  XXH64_canonical_t canonical;
  XXH64_canonicalFromHash(&canonical, XXH3_64bits(text.data(), text.size()));
  ModelId id;
  std::copy_n(canonical.digest, id.bytes.size(), id.bytes.begin());
  return id;
}

SampleDigest sample_digest(std::span<const std::uint8_t> content) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(content.data(), content.size()));
  SampleDigest digest;
  std::copy_n(canonical.digest, digest.bytes.size(), digest.bytes.begin());
  return digest;
}

std::string to_hex(const ModelId& id) { return hex(id.bytes); }
std::string to_hex(const SampleDigest& digest) { return hex(digest.bytes); }

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
  return to_hex(key.model) + "/" + to_hex(key.sample) + "/" + std::to_string(key.view);
}

EncodedKey encode(const FeatureKey& key) {
  EncodedKey bytes;
  auto out = std::copy(key.model.bytes.begin(), key.model.bytes.end(), bytes.begin());
  out = std::copy(key.sample.bytes.begin(), key.sample.bytes.end(), out);
  *out++ = static_cast<std::uint8_t>(key.view >> 8);
  *out = static_cast<std::uint8_t>(key.view & 0xff);
  return bytes;
}

bool decode(std::span<const std::uint8_t> bytes, FeatureKey& key) {
  if (bytes.size() != std::tuple_size_v<EncodedKey>) return false;
  std::copy_n(bytes.begin(), 8, key.model.bytes.begin());
  std::copy_n(bytes.begin() + 8, 16, key.sample.bytes.begin());
  key.view = static_cast<std::uint16_t>(bytes[24] << 8 | bytes[25]);
  return true;
}

}  // namespace moil::cache
