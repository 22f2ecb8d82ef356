#include "engine/train/tasks/classify.h"

#include <gmock/gmock.h>

#include <cmath>

namespace moil {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::IsNan;

using Row = std::vector<float>;

Row target(std::vector<std::uint32_t> labels, std::size_t outputs,
           std::vector<std::uint32_t> denied = {}) {
  Row row(outputs, 9);
  classify_task()->targets({}, outputs, {})->write(labels, denied, row);
  return row;
}

TEST(Classify, TargetsAreOneOrShared) {
  EXPECT_THAT(target({1}, 3), ElementsAre(0, 1, 0));
  EXPECT_THAT(target({0, 2}, 3), ElementsAre(0.5, 0, 0.5));
  EXPECT_THAT(target({7}, 3), ElementsAre(0, 0, 0));  // a class that the model lacks
}

TEST(Classify, WhatIsDeniedMayBeAnythingElse) {
  EXPECT_THAT(target({}, 4, {1, 2}), ElementsAre(IsNan(), 0, 0, IsNan()));
  EXPECT_THAT(target({}, 2, {7}), ElementsAre(IsNan(), IsNan())) << "a class that the model lacks";
  EXPECT_THAT(target({}, 2, {0, 1}), ElementsAre(IsNan(), IsNan())) << "one of all has to be said";
  EXPECT_THAT(target({0}, 3, {1}), ElementsAre(1, 0, 0));
}

TEST(Classify, ADeniedSampleIsRightIfAnythingElseIsSaidAndOfNoClass) {
  const auto scorer = classify_task()->scorer({});
  const Row target = {0, NAN, NAN, NAN, NAN, NAN};
  scorer->add(Row{6, 5, 4, 3, 2, 1}, Row{0, 1, 0, 0, 0, 0});
  scorer->add(Row{6, 5, 4, 3, 2, 1}, target);
  scorer->add(Row{1, 2, 3, 4, 5, 6}, target);
  scorer->add(Row{1, 6, 2, 3, 4, 5}, target);
  const auto scores = scorer->scores();
  EXPECT_EQ(scores[0].value, 0.5);
  EXPECT_EQ(scores[1].value, 0) << "balanced accuracy";
  EXPECT_EQ(scores[2].value, 1) << "top five";
}

TEST(Classify, QualityOfADeniedSampleIsTheProbabilityOfAllElse) {
  const auto scorer = classify_task()->scorer({.probabilities = true});
  scorer->add(Row{0.25F, 0.5F, 0.25F}, Row{NAN, 0, NAN});
  EXPECT_NEAR(scorer->quality().value(), std::log(0.5), 1e-9);
}

TEST(Classify, AnswersAreProbabilities) {
  Row row = {0, std::log(3.0F)}, done = {0.2F, 0.8F};
  classify_task()->answer(row, {});
  EXPECT_THAT(row, ElementsAre(FloatEq(0.25), FloatEq(0.75)));
  classify_task()->answer(done, {.probabilities = true});
  EXPECT_THAT(done, ElementsAre(0.2F, 0.8F));
  EXPECT_THAT(classify_task()->said(row, {}), ElementsAre(1));
}

TEST(Classify, ScoresTopOneAndTopFive) {
  const auto few = classify_task()->scorer({}), many = classify_task()->scorer({});
  EXPECT_FALSE(few->scores()[0].value);
  few->add(Row{0, 5, 1}, Row{0, 1, 0});
  few->add(Row{0, 5, 1}, Row{1, 0, 0});
  few->add(Row{0, 5, 1}, Row{0, 0, 0});  // of no class that the model has
  few->add(Row{0, 5, 1}, Row{0, 0.5, 0.5});
  ASSERT_EQ(few->scores().size(), 2U);
  EXPECT_EQ(few->scores()[0].value, 0.5);
  many->add(Row{6, 5, 4, 3, 2, 1}, Row{0, 0, 0, 0, 1, 0});
  many->add(Row{6, 5, 4, 3, 2, 1}, Row{0, 0, 0, 0, 0, 1});
  ASSERT_EQ(many->scores().size(), 3U);
  EXPECT_EQ(many->scores()[0].value, 0);
  EXPECT_EQ(many->scores()[2].value, 0.5);
}

TEST(Classify, BalancedAccuracyIsTheMeanOfTheClasses) {
  const auto scorer = classify_task()->scorer({});
  for (int i = 0; i < 99; ++i) scorer->add(Row{5, 0, 1}, Row{1, 0, 0});
  scorer->add(Row{5, 0, 1}, Row{0, 1, 0});
  const auto scores = scorer->scores();
  EXPECT_EQ(scores[0].value, 0.99);
  EXPECT_EQ(scores[1].name, "balanced_accuracy");
  EXPECT_EQ(scores[1].value, 0.5);
}

}  // namespace
}  // namespace moil
