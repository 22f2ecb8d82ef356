#include "featurecache/key.h"

#include <algorithm>

#include "tests/featurecache/helpers.h"

namespace moil::cache {
namespace {

TEST(FeatureKey, EncodesAndDecodes) {
  const FeatureKey key = key_of(1, 2, 0x1234);
  FeatureKey back;
  ASSERT_TRUE(decode(encode(key), back));
  EXPECT_EQ(back, key);
  const EncodedKey encoded = encode(key);
  EXPECT_FALSE(decode(std::span(encoded).first(25), back));
}

TEST(FeatureKey, PartsLieBehindTheirView) {
  FeatureKey key = key_of(1, 2, 3), back;
  const EncodedKey whole = encode(key);
  key.part = 0x01020304;
  const EncodedKey part = encode(key);
  EXPECT_EQ(whole.size(), 26U);
  ASSERT_EQ(part.size(), 30U);
  EXPECT_TRUE(std::equal(whole.begin(), whole.end(), part.begin()));
  ASSERT_TRUE(decode(part, back));
  EXPECT_EQ(back, key);
  EXPECT_EQ(to_string(key), to_string(key_of(1, 2, 3)) + "/16909060");
  const std::vector<std::uint8_t> none(30);  // a first part is named without one
  EXPECT_FALSE(decode(none, back));
}

TEST(FeatureKey, EncodedOrderIsModelSampleView) {
  std::vector<FeatureKey> keys;
  for (int m = 0; m < 3; ++m) {
    for (std::uint32_t s = 0; s < 3; ++s) {
      for (const std::uint16_t view : {0, 1, 255, 256, 65535}) keys.push_back(key_of(m, s, view));
    }
  }
  std::sort(keys.begin(), keys.end());
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end(), [](const auto& a, const auto& b) {
    return std::ranges::lexicographical_compare(encode(a), encode(b));
  }));
}

TEST(FeatureKey, ModelIdTellsWhereOneFingerprintEnds) {
  EXPECT_NE(model_id("ab", "c"), model_id("a", "bc"));
  EXPECT_NE(model_id("a", "b"), model_id("b", "a"));
  EXPECT_EQ(model_id("a", "b"), model_id("a", "b"));
}

// Stored on disk: must never change without a new format version.
TEST(FeatureKey, HashesAreStable) {
  EXPECT_EQ(to_hex(sample_digest({})), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(to_hex(model_id("backbone", "preprocessing")), "d7e7e257d5910c03");
}

TEST(FeatureKey, HexRoundTripAndRefusal) {
  EXPECT_EQ(parse_model_id(to_hex(model(7))), model(7));
  EXPECT_EQ(parse_sample_digest(to_hex(sample(7))), sample(7));
  EXPECT_ERROR(parse_model_id("12"), ErrorCode::kInvalidArgument, "16 hexadecimal digits");
  EXPECT_ERROR(parse_sample_digest(std::string(32, 'g')), ErrorCode::kInvalidArgument,
               "32 hexadecimal digits");
}

}  // namespace
}  // namespace moil::cache
