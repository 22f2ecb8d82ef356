#include "engine/train/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"

namespace moil {
namespace {

TEST(InTopK, CountsBetterClassesAndBreaksTies) {
  const std::vector<float> scores = {0.1F, 0.7F, 0.2F, 0.7F};
  EXPECT_TRUE(in_top_k(scores, 1, 1));
  EXPECT_FALSE(in_top_k(scores, 3, 1));
  EXPECT_TRUE(in_top_k(scores, 3, 2));
  EXPECT_FALSE(in_top_k(scores, 0, 3));
  EXPECT_TRUE(in_top_k(scores, 0, 4));
  EXPECT_FALSE(in_top_k(std::vector<float>{std::nanf(""), 0}, 0, 2));
}

TEST(Accuracy, OverBatches) {
  Accuracy accuracy(2);
  const std::vector<float> scores = {3, 2, 1, 1, 2, 3};
  const std::vector<std::int64_t> labels = {0, 1}, more = {2, 2};
  accuracy.add(scores, labels);
  accuracy.add(scores, more);
  EXPECT_EQ(accuracy.count(), 4);
  EXPECT_DOUBLE_EQ(accuracy.top_1(), 0.5);
  EXPECT_DOUBLE_EQ(accuracy.top_k(), 0.75);
  EXPECT_THROW(accuracy.add(scores, std::vector<std::int64_t>{3, 0}), Error);
  EXPECT_THROW(accuracy.add(scores, std::vector<std::int64_t>{}), Error);
  EXPECT_EQ(Accuracy().top_1(), 0);
}

TEST(Mean, WeighsBySamples) {
  Mean mean;
  EXPECT_EQ(mean.value(), 0);
  mean.add(1, 3);
  mean.add(5);
  EXPECT_DOUBLE_EQ(mean.value(), 2);
}

// Of rows, a sample each.
TaggingQuality quality_of(const std::vector<float>& scores, const std::vector<float>& targets,
                          std::size_t labels) {
  std::vector<std::vector<LabelScore>> known(labels);
  for (std::size_t i = 0; i < scores.size(); ++i)
    known[i % labels].push_back({scores[i], targets[i] > 0.5F});
  return tagging_quality(known);
}

TEST(TaggingQuality, ByHand) {
  // One label: scores 4 3 2 1 with positives at 4 and 2: three of four pairs in order.
  const std::vector<float> scores = {4, 3, 2, 1}, targets = {1, 0, 1, 0};
  const auto quality = quality_of(scores, targets, 1);
  EXPECT_DOUBLE_EQ(quality.auc, 0.75);
  EXPECT_DOUBLE_EQ(quality.mean_average_precision, (1 + 2.0 / 3) / 2);
  EXPECT_EQ(quality.labels, 1);
}

TEST(TaggingQuality, EqualScoresAreHalfRight) {
  const std::vector<float> scores(4, 0.5F), targets = {1, 0, 0, 0};
  const auto quality = quality_of(scores, targets, 1);
  EXPECT_DOUBLE_EQ(quality.auc, 0.5);
  EXPECT_DOUBLE_EQ(quality.mean_average_precision, 0.25);
}

// Against the definition: the share of pairs (positive, negative) in order, ties counting half.
TEST(TaggingQuality, AgreesWithCountingPairs) {
  constexpr std::int64_t kLabels = 3;
  std::mt19937 random(5);
  std::vector<float> scores(200 * kLabels), targets(scores.size());
  for (float& s : scores) s = static_cast<float>(random() % 20);
  for (float& t : targets) t = static_cast<float>(random() % 3 == 0);
  double expected = 0;
  for (std::size_t label = 0; label < kLabels; ++label) {
    double right = 0, pairs = 0;
    for (std::size_t i = label; i < scores.size(); i += kLabels) {
      for (std::size_t j = label; j < scores.size(); j += kLabels) {
        if (targets[i] < 0.5F || targets[j] > 0.5F) continue;
        ++pairs;
        right += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
      }
    }
    expected += right / pairs / kLabels;
  }
  EXPECT_NEAR(quality_of(scores, targets, kLabels).auc, expected, 1e-12);
}

TEST(TaggingQuality, LeavesOutLabelsOfOneKind) {
  const std::vector<float> scores = {1, 1, 2, 2}, targets = {0, 1, 1, 1};
  const auto quality = quality_of(scores, targets, 2);
  EXPECT_EQ(quality.labels, 1);
  EXPECT_DOUBLE_EQ(quality.auc, 1);
  EXPECT_EQ(quality_of({}, {}, 2).labels, 0);
}

}  // namespace
}  // namespace moil
