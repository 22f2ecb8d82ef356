#include "datasets/identity/digest.h"

#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::expect_error;

TEST(Digest, IsXxh3OfTheContent) {
  // The published XXH3-128 of no bytes, seed 0.
  EXPECT_EQ(digest_of("").hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(digest_of("a"), digest_of("b"));
}

TEST(Digest, HexGoesBothWays) {
  const Digest digest = digest_of("a photo");
  EXPECT_EQ(Digest::from_hex(digest.hex()), digest);
  EXPECT_EQ(Digest::from_bytes(digest.bytes), digest);
}

TEST(Digest, BadTextIsRefused) {
  for (const std::string text :
       {"", "12", "zz000000000000000000000000000000", "000000000000000000000000000000000"}) {
    expect_error(ErrorCode::kInvalidArgument, {"32 hexadecimal"},
                 [&] { (void)Digest::from_hex(text); });
  }
  expect_error(ErrorCode::kBadData, {"found 3"},
               [] { (void)Digest::from_bytes(std::vector<std::uint8_t>(3)); });
}

}  // namespace
}  // namespace moil::data
