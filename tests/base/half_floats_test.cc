#include "base/half_floats.h"

#include <gtest/gtest.h>

namespace moil {
namespace {

TEST(HalfFloats, Bfloat16RoundsToNearestEven) {
  EXPECT_EQ(from_bf16(to_bf16(1.0f)), 1.0f);
  EXPECT_EQ(from_bf16(to_bf16(1.0f + 0x1p-8f)), 1.0f);                // a tie, to even
  EXPECT_EQ(from_bf16(to_bf16(1.0f + 3 * 0x1p-8f)), 1.0f + 0x1p-6f);  // a tie, to even
  EXPECT_EQ(from_bf16(to_bf16(1.0f + 0x1.2p-8f)), 1.0f + 0x1p-7f);
  EXPECT_TRUE(std::isnan(from_bf16(to_bf16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isinf(from_bf16(to_bf16(std::numeric_limits<float>::infinity()))));
}

}  // namespace
}  // namespace moil
