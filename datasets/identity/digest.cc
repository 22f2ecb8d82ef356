#include "datasets/identity/digest.h"

#include <xxhash.h>

#include "base/error.h"

namespace moil::data {
namespace {

int nibble(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string Digest::hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Digest Digest::from_hex(std::string_view text) {
  Digest digest;
  bool good = text.size() == 2 * digest.bytes.size();
  for (std::size_t i = 0; good && i < digest.bytes.size(); ++i) {
    const int high = nibble(text[2 * i]);
    const int low = nibble(text[2 * i + 1]);
    good = high >= 0 && low >= 0;
    digest.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  if (!good) {
    throw Error(ErrorCode::kInvalidArgument, "'" + std::string(text.substr(0, 64)) +
                                                 "' is no digest: expected 32 hexadecimal digits");
  }
  return digest;
}

Digest Digest::from_bytes(std::span<const std::uint8_t> raw) {
  Digest digest;
  if (raw.size() != digest.bytes.size()) {
    throw Error(ErrorCode::kBadData, "a digest has 16 bytes, found " + std::to_string(raw.size()));
  }
  std::memcpy(digest.bytes.data(), raw.data(), raw.size());
  return digest;
}

Digest digest_of(std::span<const std::uint8_t> content) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(content.data(), content.size()));
  return Digest::from_bytes(canonical.digest);
}

Digest digest_of(std::string_view content) {
  return digest_of(
      std::span(reinterpret_cast<const std::uint8_t*>(content.data()), content.size()));
}

}  // namespace moil::data
