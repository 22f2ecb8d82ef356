#include "daemon/packs/described_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace moil::packs {
namespace {

constexpr std::size_t kWidth = 48, kOutputs = 20;

struct Rows {
  std::vector<float> weights, bias;

  Rows() : bias(kOutputs) {
    Random random(3);
    for (std::size_t i = 0; i < kOutputs * kWidth; ++i)
      weights.push_back(static_cast<float>(2 * random.unit() - 1));
    for (float& x : bias) x = static_cast<float>(random.unit() / 10);
  }
  ClassifierRows rows(bool each_by_itself) const {
    return {kWidth, kOutputs, weights, bias, each_by_itself};
  }
  std::vector<double> outputs(const float* feature) const {
    std::vector<double> out(bias.begin(), bias.end());
    for (std::size_t k = 0; k < kOutputs; ++k)
      for (std::size_t j = 0; j < kWidth; ++j)
        out[k] += double{weights[k * kWidth + j]} * double{feature[j]};
    return out;
  }
};

double probability(const std::vector<double>& outputs, std::size_t k, bool each_by_itself) {
  if (each_by_itself) return 1 / (1 + std::exp(-outputs[k]));
  double sum = 0;
  for (const double x : outputs) sum += std::exp(x - outputs[k]);
  return 1 / sum;
}

TEST(DescribedFeatures, TheClassifierSaysEachOfItsLabelsAndNotAlwaysSurely) {
  const Rows rows;
  for (const bool each_by_itself : {false, true}) {
    double least = 1, most = 0;
    for (const std::uint64_t draw : {1, 2}) {
      const auto features = describe_features(rows.rows(each_by_itself), draw);
      ASSERT_EQ(features.size(), kOutputs * kWidth);
      for (std::size_t k = 0; k < kOutputs; ++k) {
        const auto outputs = rows.outputs(features.data() + k * kWidth);
        const double said = probability(outputs, k, each_by_itself);
        least = std::min(least, said);
        most = std::max(most, said);
      }
    }
    EXPECT_GE(least, 0.29);
    EXPECT_LT(least, 0.6);
    EXPECT_GT(most, 0.8);
  }
}

TEST(DescribedFeatures, AreAsRectifiedOnesAre) {
  const auto features = describe_features(Rows().rows(false), 1);
  EXPECT_GE(std::ranges::min(features), 0);
  const auto off = std::ranges::count(features, 0.0F);
  EXPECT_GT(off, std::ssize(features) / 5);
  EXPECT_LT(off, std::ssize(features) * 4 / 5);
}

TEST(DescribedFeatures, OfManyOutputsSomeAreDescribed) {
  const Rows rows;
  const auto features = describe_features(rows.rows(true), 1, 3);
  ASSERT_EQ(features.size(), 7 * kWidth);
  for (std::size_t i = 0; i < 7; ++i)
    EXPECT_GE(probability(rows.outputs(features.data() + i * kWidth), 3 * i, true), 0.29);
}

TEST(DescribedFeatures, ADrawIsTheSameAgainAndOthersAreOthers) {
  const Rows rows;
  const auto once = describe_features(rows.rows(false), 1);
  EXPECT_EQ(describe_features(rows.rows(false), 1), once);
  EXPECT_NE(describe_features(rows.rows(false), 2), once);
}

}  // namespace
}  // namespace moil::packs
