#include "base/hash.h"

#include <gtest/gtest.h>

#include <vector>

namespace moil {
namespace {

// One of XXH3's own test vectors: the hash of nothing.
TEST(Hash, IsXxh3) {
  EXPECT_EQ(hash64(std::string_view()), 0x2d06800538d394c2U);
  EXPECT_EQ(to_hex(hash128({})), "99aa06d3014798d86001c324468d497f");
}

TEST(Hash, OfPiecesIsThatOfTheWhole) {
  std::vector<std::uint8_t> content(5000);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::uint8_t>(i * 37);
  for (const std::size_t cut : {0, 1, 240, 4999}) {
    Hasher hasher;
    hasher.add(ByteView(content).first(cut));
    hasher.add(ByteView(content).subspan(cut));
    EXPECT_EQ(hasher.hash64(), hash64(ByteView(content))) << cut;
    EXPECT_EQ(hasher.hash128(), hash128(content)) << cut;
  }
}

TEST(Hash, HexadecimalGoesBothWays) {
  std::array<std::uint8_t, 3> bytes{};
  EXPECT_TRUE(from_hex("00fFa1", bytes));
  EXPECT_EQ(to_hex(bytes), "00ffa1");
  EXPECT_FALSE(from_hex("00ffa", bytes));
  EXPECT_FALSE(from_hex("00ffa1b2", bytes));
  EXPECT_FALSE(from_hex("00ffg1", bytes));
}

}  // namespace
}  // namespace moil
