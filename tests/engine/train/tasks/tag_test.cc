#include "engine/train/tasks/tag.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "base/json/json.h"
#include "tests/engine/model/models.h"

namespace moil {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::IsNan;

using Row = std::vector<float>;

using Labels = std::vector<std::uint32_t>;

Row target(const TaskPtr& task, const Labels& labels, const Labels& named = {0, 1, 2},
           const Labels& denied = {}) {
  Row row(3, 9);
  task->targets({}, 3, named)->write(labels, denied, row);
  return row;
}

TEST(Tag, EachLabelIsATargetOfItsOwn) {
  EXPECT_THAT(target(tag_task(), {0, 2}), ElementsAre(1, 0, 1));
  EXPECT_THAT(target(tag_task(), {7}), ElementsAre(0, 0, 0));
}

TEST(Tag, WhatNoSampleOfTheOriginHasIsUnknown) {
  EXPECT_THAT(target(tag_task(), {1}, {1, 2}), ElementsAre(IsNan(), 1, 0));
  EXPECT_THAT(target(tag_task(), {}, {7}), ElementsAre(IsNan(), IsNan(), IsNan()));
}

TEST(Tag, WhatNobodyNamedMayBeAbsent) {
  const TaskPtr task = tag_task({.unnamed_is_unknown = false});
  EXPECT_THAT(target(task, {1}, {1}), ElementsAre(0, 1, 0));
}

TEST(Tag, OfADeniedSampleNothingElseIsKnown) {
  const TaskPtr absent = tag_task({.unnamed_is_unknown = false});
  for (const TaskPtr& task : {tag_task(), absent}) {
    EXPECT_THAT(target(task, {}, {0, 1, 2}, {1, 7}), ElementsAre(IsNan(), 0, IsNan()));
    EXPECT_THAT(target(task, {0}, {0}, {1})[1], 0);
  }
  EXPECT_THAT(target(tag_task(), {0}, {0}, {1}), ElementsAre(1, 0, IsNan()));
}

TEST(Tag, SaysWhatIsAboveItsThreshold) {
  const TaskPtr task = tag_task({.thresholds = {{1, 0.9}, {2, 0.1}}});
  const Row logits = {0.1F, 0.1F, -2};
  EXPECT_THAT(task->said(logits, {}), ElementsAre(0, 2));
  Row answer = logits;
  task->answer(answer, {});
  EXPECT_THAT(answer, ElementsAre(FloatNear(0.525F, 1e-3F), FloatNear(0.525F, 1e-3F),
                                  FloatNear(0.119F, 1e-3F)));
  EXPECT_THAT(task->said(answer, {.probabilities = true}), ElementsAre(0, 2));
}

TEST(Tag, ChoosesThresholdsBySamples) {
  const TaskPtr task = tag_task({.unnamed_is_unknown = false, .thresholds = {{1, 0.9}}});
  const auto fitting = task->fitting({});
  for (int i = 0; i < 100; ++i) {
    fitting->add(Row{-2.1F, 5, 1}, Row{1, 1, NAN});
    fitting->add(Row{-4, 5, 1}, Row{0, 1, NAN});
  }
  const TaskPtr fitted = fitting->result();
  EXPECT_THAT(task->said(Row{-2.1F, 2, 1}, {}), ElementsAre(2));
  EXPECT_THAT(fitted->said(Row{-2.1F, 2, 1}, {}), ElementsAre(0, 2)) << "label 1 keeps its own";
  const auto json = fitted->to_json();
  EXPECT_EQ(json["unnamed"], "absent");
  EXPECT_EQ(json["thresholds"][1], 0.9);
  EXPECT_EQ(task_from_json(json)->to_json(), json);
}

TEST(Tag, ScoresByHand) {
  const auto scorer = tag_task()->scorer({.probabilities = true});
  EXPECT_FALSE(scorer->scores()[0].value);
  // One pair of four is in the wrong order for label 0; nobody lacks label 1.
  scorer->add(Row{0.9F, 0.6F}, Row{1, 1});
  scorer->add(Row{0.4F, 0.2F}, Row{1, 1});
  scorer->add(Row{0.6F, 0.7F}, Row{0, 1});
  scorer->add(Row{0.1F, 0.9F}, Row{0, NAN});
  const auto scores = scorer->scores();
  EXPECT_DOUBLE_EQ(scores[0].value.value(), 0.75);
  EXPECT_DOUBLE_EQ(scores[1].value.value(), (1 + 2.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(scores[2].value.value(), (0.5 + 0.8) / 2);  // F1 of label 1 counts, too
}

TEST(Tag, QualityIsTheLogLossOfWhatIsKnown) {
  const auto scorer = tag_task()->scorer({.probabilities = true});
  EXPECT_FALSE(scorer->quality());
  scorer->add(Row{0.5F, 0.25F, 0.1F}, Row{1, 0, NAN});
  EXPECT_NEAR(scorer->quality().value(), (std::log(0.5) + std::log(0.75)) / 2, 1e-6);
  scorer->add(Row{0, 1, 0}, Row{1, NAN, NAN});  // rounded off, not infinitely wrong
  EXPECT_TRUE(std::isfinite(scorer->quality().value()));
}

TEST(Tag, WhatIsUnknownCountsInNoScore) {
  const auto scorer = tag_task()->scorer({.probabilities = true});
  for (const float unknown : {0.0F, 1.0F}) scorer->add(Row{unknown}, Row{NAN});
  scorer->add(Row{0.8F}, Row{1});
  EXPECT_FALSE(scorer->scores()[0].value);  // nothing to compare with
  scorer->add(Row{0.3F}, Row{0});
  EXPECT_EQ(scorer->scores()[0].value, 1);
}

TEST(Tag, RefusesASoftmax) {
  const auto model = test::ModelBuilder({4}).fc(3).layer("softmax").model();
  EXPECT_THROW((void)tag_task()->loss(model), Error);
  EXPECT_EQ(tag_task()->loss(test::ModelBuilder({4}).fc(3).layer("sigmoid").model()).type,
            "sigmoid_cross_entropy");
}

}  // namespace
}  // namespace moil
