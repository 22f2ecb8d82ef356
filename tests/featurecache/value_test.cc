#include "featurecache/value.h"

#include <cmath>
#include <limits>

#include "base/half_floats.h"
#include "tests/featurecache/helpers.h"

namespace moil::cache {
namespace {

std::vector<std::uint8_t> encoded(const FeatureKey& key, StoredType type,
                                  const std::vector<float>& elements) {
  std::vector<std::uint8_t> bytes(value_bytes(type, elements.size()));
  encode_value(encode(key), type, elements, bytes.data());
  return bytes;
}

float through_bf16(float value) {
  std::uint8_t stored[2];
  float back = 0;
  narrow_to_bf16(&value, 1, stored);
  widen_from_bf16(stored, 1, &back);
  return back;
}

TEST(Bf16, RoundsToNearestTiesToEven) {
  const auto bits = [](std::uint32_t b) { return std::bit_cast<float>(b); };
  EXPECT_EQ(through_bf16(bits(0x3f800000)), bits(0x3f800000));
  EXPECT_EQ(through_bf16(bits(0x3f807fff)), bits(0x3f800000));  // below the tie
  EXPECT_EQ(through_bf16(bits(0x3f808000)), bits(0x3f800000));  // tie, even below
  EXPECT_EQ(through_bf16(bits(0x3f818000)), bits(0x3f820000));  // tie, even above
  EXPECT_EQ(through_bf16(bits(0x3f808001)), bits(0x3f810000));  // above the tie
  EXPECT_EQ(through_bf16(bits(0x7f7fffff)), std::numeric_limits<float>::infinity());
  EXPECT_EQ(through_bf16(-std::numeric_limits<float>::infinity()),
            -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(through_bf16(bits(0x7f800001))));
  EXPECT_TRUE(std::isnan(through_bf16(bits(0xffffffff))));
  EXPECT_TRUE(std::signbit(through_bf16(-0.0F)));
}

// The worked example of docs/cache-format.md.
TEST(Value, BytesOfTheDocumentedExample) {
  const std::vector<std::uint8_t> abc = {'a', 'b', 'c'};
  const FeatureKey key{model_id("backbone", "preprocessing"), sample_digest(abc), 1};
  const std::vector<std::uint8_t> expected_key = {
      0xd7, 0xe7, 0xe2, 0x57, 0xd5, 0x91, 0x0c, 0x03, 0x06, 0xb0, 0x5a, 0xb6, 0x73,
      0x3a, 0x61, 0x85, 0x78, 0xaf, 0x5f, 0x94, 0x89, 0x2f, 0x39, 0x50, 0x00, 0x01};
  EXPECT_TRUE(std::ranges::equal(encode(key), expected_key));
  const std::vector<std::uint8_t> fp32 = {3,    0,    0,    0,    1,    0,    0, 0,   0x46, 0x8c,
                                          0x87, 0xda, 0x1b, 0xed, 0xd7, 0x62, 0, 0,   0x80, 0x3f,
                                          0,    0,    0,    0xc0, 0,    0,    0, 0x3f};
  EXPECT_EQ(encoded(key, StoredType::kFp32, {1.0F, -2.0F, 0.5F}), fp32);
  const std::vector<std::uint8_t> bf16 = {3,    0,    0,    0,    2,    0,    0,    0,
                                          0xd9, 0x87, 0xdc, 0x6e, 0x2c, 0xf8, 0x11, 0x41,
                                          0x80, 0x3f, 0,    0xc0, 0,    0x3f};
  EXPECT_EQ(encoded(key, StoredType::kBf16, {1.0F, -2.0F, 0.5F}), bf16);
}

TEST(Value, EveryFlippedBitIsSeen) {
  auto bytes = encoded(key_of(1, 1), StoredType::kBf16, features(3, 9));
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    EXPECT_FALSE(check_value(encode(key_of(1, 1)), bytes)) << "bit " << bit;
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
  }
  EXPECT_TRUE(check_value(encode(key_of(1, 1)), bytes));
}

TEST(Value, BelongsToItsKey) {
  const auto bytes = encoded(key_of(1, 1), StoredType::kFp32, features(3, 9));
  EXPECT_FALSE(check_value(encode(key_of(2, 1)), bytes));
  EXPECT_FALSE(check_value(encode(key_of(1, 2)), bytes));
  EXPECT_FALSE(check_value(encode(key_of(1, 1, 1)), bytes));
}

TEST(Value, CutShortAtEveryLength) {
  const auto bytes = encoded(key_of(1, 1), StoredType::kFp32, features(3, 9));
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(check_value(encode(key_of(1, 1)), std::span(bytes).first(n))) << n;
  }
}

}  // namespace
}  // namespace moil::cache
