#include "datasets/sampling/per_class.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::expect_error;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> kClasses = {"a", "b", "c", "empty"};

// 100 of a, 10 of b, 1 of c, interleaved.
std::vector<ClassId> labels() {
  std::vector<ClassId> result;
  for (int i = 0; i < 100; ++i) {
    result.push_back(0);
    if (i % 10 == 3) result.push_back(1);
    if (i == 57) result.push_back(2);
  }
  return result;
}

std::vector<std::size_t> counts_of(const std::vector<std::size_t>& drawn) {
  std::vector<std::size_t> result(kClasses.size());
  for (const std::size_t i : drawn) ++result[labels().at(i)];
  return result;
}

TEST(SamplePerClass, EachClassKeepsItsShare) {
  const auto draw = [](double alpha) { return sample_per_class(labels(), kClasses, alpha, 1); };
  EXPECT_THAT(draw(0), IsEmpty());
  EXPECT_THAT(counts_of(draw(0.001)), ElementsAre(1, 1, 1, 0)) << "at least one where alpha > 0";
  EXPECT_THAT(counts_of(draw(0.25)), ElementsAre(25, 3, 1, 0));
  EXPECT_THAT(counts_of(draw(1)), ElementsAre(100, 10, 1, 0));
}

TEST(SamplePerClass, ALimitTakesFromTheLargestClasses) {
  const auto draw = [](std::size_t limit) {
    return sample_per_class(labels(), kClasses, 1, 1, limit);
  };
  EXPECT_THAT(counts_of(draw(111)), ElementsAre(100, 10, 1, 0));
  EXPECT_THAT(counts_of(draw(110)), ElementsAre(99, 10, 1, 0));
  EXPECT_THAT(counts_of(draw(21)), ElementsAre(10, 10, 1, 0));
  EXPECT_THAT(counts_of(draw(7)), ElementsAre(3, 3, 1, 0));
  EXPECT_THAT(counts_of(draw(3)), ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(draw(0), IsEmpty());
  for (std::size_t limit = 1; limit <= 111; ++limit) EXPECT_EQ(draw(limit).size(), limit);
}

// Whatever the sizes of the classes are.
TEST(SamplePerClass, LargerSharesAndLargerLimitsHoldSmallerOnes) {
  const double alphas[] = {0, 0.01, 0.1, 0.25, 0.5, 0.8, 1};
  for (std::size_t limit = 0; limit <= 112; ++limit) {
    std::vector<std::size_t> smaller;
    for (const double alpha : alphas) {
      const auto drawn = sample_per_class(labels(), kClasses, alpha, 4, limit);
      const auto wider = sample_per_class(labels(), kClasses, alpha, 4, limit + 1);
      EXPECT_LE(drawn.size(), limit);
      EXPECT_TRUE(std::ranges::includes(drawn, smaller)) << alpha << " limit " << limit;
      EXPECT_TRUE(std::ranges::includes(wider, drawn)) << alpha << " limit " << limit;
      smaller = drawn;
      const auto all = sample_over_all(111, alpha, 4, limit);
      EXPECT_TRUE(std::ranges::includes(sample_over_all(111, alpha, 4, limit + 1), all));
    }
  }
}

TEST(SamplePerClass, IsWithoutReplacementAndSorted) {
  const auto drawn = sample_per_class(labels(), kClasses, 0.5, 9);
  EXPECT_TRUE(std::ranges::is_sorted(drawn));
  EXPECT_EQ(std::ranges::adjacent_find(drawn), drawn.end());
}

// The draw of a job must be the same with every compiler and library, in every version.
TEST(SamplePerClass, IsTheSameForEver) {
  const std::vector<ClassId> ten(10, 0);
  const std::vector<std::string> one = {"cat"};
  EXPECT_THAT(sample_per_class(ten, one, 0.4, 42), ElementsAre(1, 2, 3, 9));
  EXPECT_THAT(epoch_order(6, 42, 0), ElementsAre(2, 4, 1, 3, 5, 0));
}

TEST(SamplePerClass, EverySampleHasItsChance) {
  std::set<std::size_t> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const std::size_t i : sample_per_class(labels(), kClasses, 0.05, seed)) seen.insert(i);
  }
  EXPECT_EQ(seen.size(), labels().size());
}

TEST(SamplePerClass, AddingAClassLeavesTheOthersDraw) {
  auto more = labels();
  more.insert(more.end(), 20, 3);
  auto drawn = sample_per_class(more, kClasses, 0.2, 5);
  std::erase_if(drawn, [&](std::size_t i) { return i >= labels().size(); });
  EXPECT_EQ(drawn, sample_per_class(labels(), kClasses, 0.2, 5));
}

TEST(SamplePerClass, BadArgumentsAreRefused) {
  for (const double alpha : {-0.1, 1.1, std::nan("")}) {
    expect_error(ErrorCode::kInvalidArgument, {"alpha"},
                 [&] { (void)sample_per_class({}, kClasses, alpha, 1); });
    expect_error(ErrorCode::kInvalidArgument, {"alpha"},
                 [&] { (void)sample_over_all(0, alpha, 1); });
  }
  const std::vector<ClassId> wrong = {4};
  expect_error(ErrorCode::kInvalidArgument, {"class 4"},
               [&] { (void)sample_per_class(wrong, kClasses, 0.5, 1); });
}

TEST(SampleOverAll, DrawsSamplesNotTags) {
  EXPECT_EQ(sample_over_all(1000, 0.1, 3).size(), 100u);
  EXPECT_EQ(sample_over_all(1000, 0.0001, 3).size(), 1u);
  EXPECT_THAT(sample_over_all(1000, 0, 3), IsEmpty());
}

TEST(EpochOrder, IsAPermutationOfItsOwnForEachEpoch) {
  std::vector<std::size_t> all(50);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_THAT(epoch_order(50, 1, 0), ::testing::UnorderedElementsAreArray(all));
  EXPECT_EQ(epoch_order(50, 1, 3), epoch_order(50, 1, 3));
  EXPECT_NE(epoch_order(50, 1, 3), epoch_order(50, 1, 4));
  EXPECT_NE(epoch_order(50, 1, 3), epoch_order(50, 2, 3));
  EXPECT_THAT(epoch_order(0, 1, 0), IsEmpty());
}

}  // namespace
}  // namespace moil::data
