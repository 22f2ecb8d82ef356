#include "datasets/identity/digest.h"

#include "base/error.h"
#include "base/hash.h"

namespace moil::data {

std::string Digest::hex() const { return to_hex(bytes); }

Digest Digest::from_hex(std::string_view text) {
  Digest digest;
  if (!moil::from_hex(text, digest.bytes)) {
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

Digest digest_of(std::span<const std::uint8_t> content) { return {hash128(content)}; }

Digest digest_of(std::string_view content) {
  return digest_of(
      std::span(reinterpret_cast<const std::uint8_t*>(content.data()), content.size()));
}

}  // namespace moil::data
