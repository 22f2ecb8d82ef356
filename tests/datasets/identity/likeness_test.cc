#include "datasets/identity/likeness.h"

#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::expect_error;

// The lowest so many bits of 128, down first.
Likeness with_bits(int count) {
  const auto low = [](int n) {
    return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << std::max(n, 0)) - 1;
  };
  return {low(count - 64), low(count)};
}

TEST(Likeness, IsWrittenAndReadBack) {
  const Likeness one{0x0123456789abcdef, 0xfedcba9876543210};
  EXPECT_EQ(one.hex(), "0123456789abcdeffedcba9876543210");
  EXPECT_EQ(Likeness::from_hex(one.hex()), one);
  EXPECT_EQ(Likeness::from_bytes(one.bytes()), one);
  expect_error(ErrorCode::kInvalidArgument, {"hexadecimal"},
               [] { (void)Likeness::from_hex("12"); });
  expect_error(ErrorCode::kBadData, {}, [] { (void)Likeness::from_bytes({}); });
}

TEST(Likeness, DistanceCountsTheBitsOfBoth) {
  EXPECT_EQ(distance({}, {}), 0);
  EXPECT_EQ(distance({1, 0}, {0, 3}), 3);
  EXPECT_EQ(distance({}, with_bits(128)), 128);
}

TEST(Likeness, OneInEightMayDiffer) {
  EXPECT_TRUE(look_alike(with_bits(60), with_bits(76)));
  EXPECT_FALSE(look_alike(with_bits(60), with_bits(77)));
}

TEST(Likeness, OfFewBitsFewMayDiffer) {
  EXPECT_TRUE(look_alike(with_bits(15), with_bits(20)));
  EXPECT_FALSE(look_alike(with_bits(15), with_bits(21)));
}

}  // namespace
}  // namespace moil::data
