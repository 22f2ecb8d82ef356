#include "daemon/night/data/mix_targets.h"

#include <gmock/gmock.h>

#include "base/json/json.h"
#include "daemon/night/judge/local_scorer.h"
#include "engine/train/tasks/predict.h"
#include "engine/train/tasks/tag.h"

namespace moil::night {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::IsNan;

using Row = std::vector<float>;

data::MixedSample sample(data::Source source, std::vector<data::ClassId> labels) {
  return {{source, 0}, {}, std::move(labels)};
}

// A tagger of 521 tags is five here: "dog", "bark", "rain", "siren" and "engine". The device names
// "dog" (both "dog" and "bark"), "rain" and "knock", which is new; the pack has dogs and sirens.
class MixTargetsTest : public ::testing::Test {
 protected:
  enum Tag : data::ClassId { kDog, kBark, kRain, kSiren, kEngine, kKnock };

  MixTargetsTest() {
    mix_.classes = {"dog", "bark", "rain", "siren", "engine", "knock"};
    mix_.global_classes = 5;
    mix_.train = {sample(data::Source::kGlobal, {kDog}),
                  sample(data::Source::kLocal, {kDog, kBark}),
                  sample(data::Source::kLocal, {kRain})};
    mix_.global_validation = {sample(data::Source::kGlobal, {kSiren})};
    mix_.local_validation = {sample(data::Source::kLocal, {kKnock})};
  }

  Row target(const data::MixedSample& of, const TaskPtr& task = tag_task(),
             std::size_t outputs = 6) const {
    Row row(outputs, 9);
    MixTargets(*task, mix_, outputs).write(of, row);
    return row;
  }

  data::Mix mix_;
};

TEST_F(MixTargetsTest, ALocalSampleLacksWhatOtherLocalOnesHave) {
  EXPECT_THAT(target(mix_.train[1]), ElementsAre(1, 1, 0, IsNan(), IsNan(), 0));
  EXPECT_THAT(target(mix_.train[2]), ElementsAre(0, 0, 1, IsNan(), IsNan(), 0));
}

TEST_F(MixTargetsTest, AGlobalSampleLacksWhatThePackHasAndWhatIsNew) {
  EXPECT_THAT(target(mix_.train[0]), ElementsAre(1, IsNan(), IsNan(), 0, IsNan(), 0));
}

TEST_F(MixTargetsTest, TheModelBeforeHasNoOutputForWhatIsNew) {
  EXPECT_THAT(target(mix_.local_validation[0], tag_task(), 5),
              ElementsAre(0, 0, 0, IsNan(), IsNan()));
}

TEST_F(MixTargetsTest, WhereUnnamedIsAbsentAllElseIs) {
  const TaskPtr task = tag_task({.unnamed_is_unknown = false});
  EXPECT_THAT(target(mix_.train[1], task), ElementsAre(1, 1, 0, 0, 0, 0));
}

TEST_F(MixTargetsTest, SilenceHasNoLabelThatLocalSamplesHave) {
  const auto silence = [&](const TaskPtr& task, std::size_t outputs) {
    Row row(outputs, 9);
    MixTargets(*task, mix_, outputs).write_silence(row);
    return row;
  };
  EXPECT_THAT(silence(tag_task(), 6), ElementsAre(0, 0, 0, IsNan(), IsNan(), 0));
  EXPECT_THAT(silence(task_from_json(nlohmann::json()), 6),
              ElementsAre(0, 0, 0, FloatEq(0.5), FloatEq(0.5), 0))
      << "one of all says something";
  EXPECT_THAT(silence(task_from_json(nlohmann::json()), 3), testing::Each(FloatEq(1.0F / 3)))
      << "where local samples have every label";
}

TEST_F(MixTargetsTest, WhatIsDeniedIsAbsentAndNothingElseIsSaid) {
  data::MixedSample engine = sample(data::Source::kLocal, {});
  engine.denied = {kBark, kEngine};
  EXPECT_THAT(target(engine), ElementsAre(IsNan(), 0, IsNan(), IsNan(), 0, IsNan()));
  EXPECT_THAT(target(engine, tag_task({.unnamed_is_unknown = false})),
              ElementsAre(IsNan(), 0, IsNan(), IsNan(), 0, IsNan()));
  EXPECT_THAT(target(engine, task_from_json(nlohmann::json())),
              ElementsAre(IsNan(), 0, IsNan(), IsNan(), 0, IsNan()));
  engine.labels = {kRain};
  EXPECT_THAT(target(engine), ElementsAre(0, 0, 1, IsNan(), 0, 0));
  EXPECT_THAT(target(engine, task_from_json(nlohmann::json())), ElementsAre(0, 0, 1, 0, 0, 0));
}

TEST_F(MixTargetsTest, SilenceIsNotWhatLocalSamplesDenyEither) {
  mix_.train.push_back(sample(data::Source::kLocal, {}));
  mix_.train.back().denied = {kEngine};
  Row row(6, 9);
  MixTargets(*task_from_json(nlohmann::json()), mix_, 6).write_silence(row);
  EXPECT_THAT(row, ElementsAre(0, 0, 0, 1, 0, 0));
}

TEST_F(MixTargetsTest, LocalQualityHoldsDeniedTagsAgainstThePacks) {
  mix_.local_validation = {sample(data::Source::kLocal, {})};
  mix_.local_validation[0].denied = {kSiren};
  const TaskPtr task = tag_task();
  LocalScorer scorer(*task, {.probabilities = true}, mix_.local_validation);
  scorer.add_local(Row{0, 0, 0, 0.6F, 0, 0}, target(mix_.local_validation[0]));
  scorer.add_global(Row{0, 0, 0, 0.5F, 0, 0}, target(sample(data::Source::kGlobal, {kSiren})));
  scorer.add_global(Row{0, 0, 0, 0.7F, 0, 0}, target(sample(data::Source::kGlobal, {kSiren})));
  EXPECT_EQ(scorer.scorer().scores()[0].value, 0.5);
}

TEST_F(MixTargetsTest, NumbersAreThoseOfTheLabelsOnBothSides) {
  mix_.classes = {"1.5", "4"};
  mix_.global_classes = 2;
  mix_.train = {sample(data::Source::kGlobal, {1}), sample(data::Source::kLocal, {0})};
  mix_.global_validation = mix_.local_validation = {};
  EXPECT_THAT(target(mix_.train[0], predict_task(), 1), ElementsAre(FloatEq(4)));
  EXPECT_THAT(target(mix_.train[1], predict_task(), 1), ElementsAre(FloatEq(1.5F)));
}

// "bark" is in no label of the pack, and still global samples are what it is told from.
TEST_F(MixTargetsTest, LocalQualityComparesWithGlobalSamples) {
  mix_.local_validation = {sample(data::Source::kLocal, {kBark})};
  const TaskPtr task = tag_task();
  LocalScorer scorer(*task, {.probabilities = true}, mix_.local_validation);
  scorer.add_local(Row{0, 0.6F, 0, 0, 0, 0}, target(mix_.local_validation[0]));
  EXPECT_FALSE(scorer.scorer().scores()[0].value);
  scorer.add_global(Row{1, 0.5F, 1, 1, 1, 1}, target(mix_.train[0]));
  scorer.add_global(Row{1, 0.7F, 1, 1, 1, 1}, target(mix_.train[0]));
  EXPECT_EQ(scorer.scorer().scores()[0].value, 0.5);
}

}  // namespace
}  // namespace moil::night
