#include "daemon/study/label_doubts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/night/imprint/whitened_rows.h"

namespace moil::night {
namespace {

using ::testing::IsEmpty;

// Scores of a sample that looks like `said`, by so much.
void add(std::vector<float>& scores, std::size_t classes, std::uint32_t said, float by) {
  for (std::size_t k = 0; k < classes; ++k) scores.push_back(k == said ? by : 0.0F);
}

TEST(LabelDoubts, TheWrongLabelsComeFirst) {
  constexpr std::size_t kClasses = 3;
  std::vector<float> scores;
  std::vector<std::uint32_t> labels;
  for (std::uint32_t i = 0; i < 30; ++i) {
    add(scores, kClasses, i % 3, 5);
    labels.push_back(i % 3);
  }
  labels[7] = 2;   // looks like 1, clearly
  labels[12] = 1;  // looks like 0, clearly
  add(scores, kClasses, 2, 0.2F);
  labels.push_back(0);  // a little like 2
  const auto doubts = label_doubts(scores, labels, kClasses);
  ASSERT_EQ(doubts.size(), 3U);
  EXPECT_EQ(doubts[0].sample + doubts[1].sample, 19U);
  EXPECT_TRUE(doubts[0].likely && doubts[1].likely);
  for (const LabelDoubt& doubt : {doubts[0], doubts[1]})
    EXPECT_EQ(doubt.said, doubt.sample == 7 ? 1U : 0U);
  EXPECT_EQ(doubts[2].sample, 30U);
  EXPECT_FALSE(doubts[2].likely) << "less sure than what has the label";
}

TEST(LabelDoubts, RightLabelsAreNotDoubtedNorIsWhatNoRowTells) {
  std::vector<float> scores;
  std::vector<std::uint32_t> labels;
  for (std::uint32_t i = 0; i < 12; ++i) {
    add(scores, 3, i % 2, 4);
    scores[i * 3 + 2] = kNoRow;
    labels.push_back(i % 2);
  }
  labels[5] = 2;  // of which there is no row
  EXPECT_THAT(label_doubts(scores, labels, 3), IsEmpty());
}

}  // namespace
}  // namespace moil::night
