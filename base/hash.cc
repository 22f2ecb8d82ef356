#include "base/hash.h"

#include <xxhash.h>

#include <algorithm>

#include "base/error.h"

namespace moil {
namespace {

Hash128 big_endian(XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  Hash128 bytes;
  std::copy_n(canonical.digest, bytes.size(), bytes.begin());
  return bytes;
}

int nibble(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::uint64_t hash64(ByteView content, std::uint64_t seed) {
  return XXH3_64bits_withSeed(content.data(), content.size(), seed);
}

std::uint64_t hash64(std::string_view content, std::uint64_t seed) {
  return XXH3_64bits_withSeed(content.data(), content.size(), seed);
}

Hash128 hash128(ByteView content) {
  return big_endian(XXH3_128bits(content.data(), content.size()));
}

void Hasher::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

Hasher::Hasher() : state_(XXH3_createState()) {
  if (!state_) throw Error(ErrorCode::kResourceExhausted, "no memory for a checksum");
  XXH3_128bits_reset(state_.get());
}

void Hasher::add(ByteView piece) { add(piece.data(), piece.size()); }

void Hasher::add(const void* data, std::size_t bytes) {
  XXH3_128bits_update(state_.get(), data, bytes);
}

std::uint64_t Hasher::hash64() const { return XXH3_64bits_digest(state_.get()); }

Hash128 Hasher::hash128() const { return big_endian(XXH3_128bits_digest(state_.get())); }

std::string to_hex(ByteView bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

bool from_hex(std::string_view text, std::span<std::uint8_t> bytes) {
  if (text.size() != 2 * bytes.size()) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int high = nibble(text[2 * i]), low = nibble(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return true;
}

}  // namespace moil
