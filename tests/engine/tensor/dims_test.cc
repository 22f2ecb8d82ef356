#include "engine/tensor/dims.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace moil {
namespace {

TEST(DimsTest, KnowsItsElements) {
  const Dims dims{64, 3, 32, 16};
  EXPECT_EQ(dims.rank(), 4u);
  EXPECT_EQ(dims[1], 3);
  EXPECT_EQ(dims.back(), 16);
  EXPECT_EQ(dims.back(2), 3);
  EXPECT_EQ(dims.elements(), 64 * 3 * 32 * 16);
  EXPECT_EQ(dims.elements_per_sample(), 3 * 32 * 16);
  EXPECT_EQ(dims.to_string(), "64x3x32x16");
}

TEST(DimsTest, ScalarHasOneElement) {
  const Dims scalar;
  EXPECT_EQ(scalar.rank(), 0u);
  EXPECT_EQ(scalar.elements(), 1);
  EXPECT_EQ(scalar.elements_per_sample(), 1);
  EXPECT_EQ(scalar.to_string(), "");
}

TEST(DimsTest, OtherBatch) {
  EXPECT_EQ((Dims{64, 3, 2}.with_batch(5)), (Dims{5, 3, 2}));
  EXPECT_THROW((void)(Dims{64, 3}.with_batch(0)), Error);
}

TEST(DimsTest, EqualOnlyWithTheSameRank) {
  EXPECT_EQ((Dims{2, 3}), (Dims{2, 3}));
  EXPECT_NE((Dims{2, 3}), (Dims{3, 2}));
  EXPECT_NE((Dims{2, 3}), (Dims{2, 3, 1}));
}

TEST(DimsTest, RefusesWhatIsNoTensor) {
  EXPECT_THROW((Dims{2, 0}), Error);
  EXPECT_THROW((Dims{-1}), Error);
  EXPECT_THROW((Dims{1, 1, 1, 1, 1, 1, 1}), Error);
  EXPECT_EQ((Dims{std::int64_t{1} << 20, std::int64_t{1} << 20}).elements(), std::int64_t{1} << 40);
  EXPECT_THROW((Dims{std::int64_t{1} << 20, std::int64_t{1} << 20, 2}), Error);
  EXPECT_THROW((Dims{std::int64_t{1} << 62, std::int64_t{1} << 62}), Error);
}

}  // namespace
}  // namespace moil
