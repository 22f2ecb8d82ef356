#include "daemon/models/part_answers.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "engine/train/tasks/classify.h"
#include "engine/train/tasks/predict.h"
#include "engine/train/tasks/tag.h"

namespace moil::night {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;

using Row = std::vector<float>;
using How = data::PartAnswer;

Row joined(const TaskPtr& task, How how, const std::vector<Row>& parts, OutputForm form = {}) {
  PartAnswers answers(how, *task, form);
  for (const Row& part : parts) answers.add(part);
  const auto found = answers.take();
  return {found.begin(), found.end()};
}

Row told(const TaskPtr& task, Row output) {
  task->answer(output, {});
  return output;
}

float logit(float p) { return std::log(p / (1 - p)); }

TEST(PartAnswers, OnePartIsAnsweredAsItIs) {
  const Row odd = {-3.0e8F, std::nextafter(0.1F, 1.0F), 91.25F};
  for (const TaskPtr& task : {classify_task(), tag_task(), predict_task()})
    for (const How how : {How::kMean, How::kMaximum}) EXPECT_EQ(joined(task, how, {odd}), odd);
}

TEST(PartAnswers, TagsAreTheMeanOfProbabilities) {
  const Row answer = told(
      tag_task(),
      joined(tag_task(), How::kMean,
             {{logit(0.9F), logit(0.2F)}, {logit(0.5F), logit(0.2F)}, {logit(0.1F), logit(0.8F)}}));
  EXPECT_THAT(answer, ElementsAre(FloatNear(0.5F, 1e-6F), FloatNear(0.4F, 1e-6F)));
}

// Logits of a silent patch lie far below those of any sound.
TEST(PartAnswers, OneSilentPartDoesNotOutvoteTheOthers) {
  const Row dog = {logit(0.95F)}, silence = {-700};
  const Row mean = joined(tag_task(), How::kMean, {dog, dog, dog, silence});
  EXPECT_THAT(told(tag_task(), mean), ElementsAre(FloatNear(0.7125F, 1e-6F)));
  EXPECT_THAT(tag_task()->said(mean, {}), ElementsAre(0));
  const Row classes = joined(classify_task(), How::kMean, {{4, 0}, {4, 0}, {-700, 0}});
  EXPECT_EQ(classify_task()->said(classes, {}).front(), 0U);
}

TEST(PartAnswers, ClassesAreTheMeanOfProbabilities) {
  const Row answer =
      told(classify_task(), joined(classify_task(), How::kMean,
                                   {{std::log(0.7F), std::log(0.2F), std::log(0.1F)},
                                    {std::log(0.1F) + 5, std::log(0.8F) + 5, std::log(0.1F) + 5}}));
  EXPECT_THAT(answer,
              ElementsAre(FloatNear(0.4F, 1e-6F), FloatNear(0.5F, 1e-6F), FloatNear(0.1F, 1e-6F)));
}

TEST(PartAnswers, TheMaximumIsThatOfProbabilities) {
  const Row tags = joined(tag_task(), How::kMaximum, {{-2, 3}, {1, -700}});
  EXPECT_THAT(tags, ElementsAre(FloatNear(1, 1e-5F), FloatNear(3, 1e-5F)));
  // A class is as likely as where it is likeliest, however large the logits of other parts are.
  const Row classes = joined(classify_task(), How::kMaximum, {{9, 8}, {0, 3}});
  EXPECT_EQ(classify_task()->said(classes, {}).front(), 1U);
}

TEST(PartAnswers, WhatIsSureStaysFinite) {
  for (const TaskPtr& task : {classify_task(), tag_task()})
    for (const How how : {How::kMean, How::kMaximum})
      for (const float x : joined(task, how, {{-800, 800}, {-800, 800}}))
        EXPECT_TRUE(std::isfinite(x)) << task->name();
}

TEST(PartAnswers, ProbabilitiesAndNumbersAreJoinedAsTheyAre) {
  const OutputForm made{.probabilities = true};
  EXPECT_THAT(joined(tag_task(), How::kMean, {{0.25F, 1}, {0.75F, 0}}, made),
              ElementsAre(0.5F, 0.5F));
  EXPECT_THAT(joined(classify_task(), How::kMaximum, {{0.25F, 0.75F}, {0.5F, 0.5F}}, made),
              ElementsAre(0.5F, 0.75F));
  EXPECT_THAT(joined(predict_task(), How::kMean, {{-7, 1}, {8, 2}}), ElementsAre(0.5F, 1.5F));
  EXPECT_THAT(joined(predict_task(), How::kMaximum, {{-7, 1}, {8, 2}}), ElementsAre(8, 2));
}

TEST(PartAnswers, BeginsAnewBehindEachAnswer) {
  const TaskPtr task = tag_task();
  PartAnswers answers(How::kMean, *task, {.probabilities = true});
  answers.add(Row{0.2F});
  answers.add(Row{0.4F});
  EXPECT_THAT(answers.take(), ElementsAre(FloatNear(0.3F, 1e-6F)));
  answers.add(Row{0.9F});
  EXPECT_THAT(answers.take(), ElementsAre(0.9F));
}

}  // namespace
}  // namespace moil::night
