#include "datasets/identity/split.h"

#include <algorithm>

#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::expect_error;

TEST(Split, ByDigestHoldsOutTheFraction) {
  int held_out = 0;
  for (int i = 0; i < 10'000; ++i) {
    held_out += split_of(digest_of(std::to_string(i)), 0.2) == Split::kValidation;
  }
  EXPECT_NEAR(held_out, 2'000, 150);
  EXPECT_EQ(split_of(digest_of("x"), 0), Split::kTrain);
  EXPECT_EQ(split_of(digest_of("x"), 1), Split::kValidation);
}

TEST(Split, StratifiedKeepsEachClassesShare) {
  const std::vector<std::string> classes = {"a", "b", "c"};
  std::vector<std::uint32_t> labels(100, 0);
  labels.insert(labels.end(), 3, 1);
  labels.push_back(2);
  const auto splits = stratified_split(labels, classes, 0.2, 5);
  const auto held_out = [&](std::size_t from, std::size_t to) {
    return std::count(splits.begin() + static_cast<long>(from),
                      splits.begin() + static_cast<long>(to), Split::kValidation);
  };
  EXPECT_EQ(held_out(0, 100), 20);
  EXPECT_EQ(held_out(100, 103), 1);
  EXPECT_EQ(held_out(103, 104), 0) << "a single sample is trained on";
  EXPECT_EQ(stratified_split(labels, classes, 0.2, 5), splits);
  EXPECT_NE(stratified_split(labels, classes, 0.2, 6), splits);
}

TEST(Split, NamesGoBothWays) {
  EXPECT_EQ(split_from_string(to_string(Split::kTrain)), Split::kTrain);
  EXPECT_EQ(split_from_string(to_string(Split::kValidation)), Split::kValidation);
  expect_error(ErrorCode::kInvalidArgument, {"test"}, [] { (void)split_from_string("test"); });
}

TEST(Split, BadFractionIsRefused) {
  expect_error(ErrorCode::kInvalidArgument, {"1.5"}, [] { (void)split_of({}, 1.5); });
}

}  // namespace
}  // namespace moil::data
