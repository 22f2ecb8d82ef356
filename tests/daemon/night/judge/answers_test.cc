#include "daemon/night/judge/answers.h"

#include <gmock/gmock.h>

#include "base/json/json.h"
#include "engine/train/task.h"
#include "tests/daemon/night/support.h"

namespace moil::night {
namespace {

using nlohmann::json;

const TaskPtr kClassify = task_from_json(nullptr), kTag = task_from_json({{"task", "tag"}});

// Held-out samples with these labels, of as many classes as it takes: "a", "b", ...
data::Mix mix_of(const std::vector<std::vector<data::ClassId>>& samples) {
  data::Mix mix;
  for (char name = 'a'; name <= 'z'; ++name) mix.classes.emplace_back(1, name);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    data::MixedSample sample;
    sample.digest = data::digest_of(std::vector<std::uint8_t>{static_cast<std::uint8_t>(i)});
    sample.labels = samples[i];
    mix.local_validation.push_back(sample);
  }
  return mix;
}

Judgement said(const std::vector<std::vector<std::uint32_t>>& answers) {
  Judgement judgement;
  judgement.local_said = answers;
  return judgement;
}

TEST(Answers, LabelsThatAreTakenForOthersComeFirst) {
  const data::Mix mix = mix_of({{0}, {0}, {1}, {1}, {1}, {2}});
  const json found = confusion(mix, *kClassify, said({{0}, {0}, {2}, {2}, {0}, {2}}));
  EXPECT_EQ(found["labels"], parsed_json(R"([{"label": "b", "held_out": 3, "right": 0},
    {"label": "a", "held_out": 2, "right": 2}, {"label": "c", "held_out": 1, "right": 1}])"));
  EXPECT_EQ(found["pairs"], parsed_json(R"([{"label": "b", "said": "c", "count": 2},
    {"label": "b", "said": "a", "count": 1}])"));
  EXPECT_EQ(found["more"], parsed_json(R"({"labels": 0, "pairs": 0})"));
}

TEST(Answers, OneOfSeveralLabelsIsRightForAClassifierAndAllAreForTags) {
  const data::Mix mix = mix_of({{0, 1}, {0, 1}});
  const Judgement after = said({{1}, {2}});
  EXPECT_EQ(confusion(mix, *kClassify, after)["labels"],
            parsed_json(R"([{"label": "a or b", "held_out": 2, "right": 1}])"));
  const json tags = confusion(mix, *kTag, after);
  EXPECT_EQ(tags["labels"], parsed_json(R"([{"label": "a", "held_out": 2, "right": 0},
    {"label": "b", "held_out": 2, "right": 1}])"));
  EXPECT_EQ(tags["pairs"], parsed_json(R"([{"label": "a", "said": null, "count": 1},
    {"label": "a", "said": "c", "count": 1}, {"label": "b", "said": "c", "count": 1}])"));
}

TEST(Answers, AnythingElseIsRightOfWhatIsDenied) {
  data::Mix mix = mix_of({{}, {}, {0}});
  mix.local_validation[0].denied = mix.local_validation[1].denied = {0, 2};
  const Judgement before = said({{0}, {0}, {0}}), after = said({{1}, {2}, {0}});
  for (const TaskPtr& task : {kClassify, kTag}) {
    const json found = confusion(mix, *task, after);
    EXPECT_EQ(found["labels"], parsed_json(R"([{"label": "!c", "held_out": 2, "right": 1},
      {"label": "!a", "held_out": 2, "right": 2}, {"label": "a", "held_out": 1, "right": 1}])"));
    EXPECT_EQ(found["pairs"], parsed_json(R"([{"label": "!c", "said": "c", "count": 1}])"));
    const json changed = changed_answers(mix, *task, before, after);
    EXPECT_EQ(changed["right_count"], 1);
    EXPECT_EQ(changed["right"][0]["label"], "!a and !c");
    EXPECT_EQ(changed["wrong_count"], 0);
  }
}

TEST(Answers, AThousandLabelsStaySmall) {
  data::Mix mix;
  Judgement after;
  for (data::ClassId i = 0; i < 1000; ++i) {
    mix.classes.push_back("label " + std::to_string(i));
    mix.local_validation.push_back({{}, {}, {i}});
    after.local_said.push_back({(i + 1) % 1000});
  }
  const json found = confusion(mix, *kClassify, after);
  EXPECT_EQ(found["labels"].size(), kMostConfusedLabels);
  EXPECT_EQ(found["pairs"].size(), kMostConfusedPairs);
  EXPECT_EQ(found["more"], (json{{"labels", 900}, {"pairs", 800}}));
  const Judgement before = said(std::vector<std::vector<std::uint32_t>>(1000));
  const json changed = changed_answers(mix, *kClassify, before, after);
  EXPECT_EQ(changed["right_count"], 0);
}

TEST(Answers, WhatChangedIsTold) {
  const data::Mix mix = mix_of({{0}, {0}, {1}, {1}});
  const json found =
      changed_answers(mix, *kClassify, said({{1}, {0}, {1}, {}}), said({{0}, {0}, {0}, {1}}));
  EXPECT_EQ(found["right_count"], 2);
  EXPECT_EQ(found["right"], (json{{{"digest", mix.local_validation[0].digest.hex()},
                                   {"label", "a"},
                                   {"before", "b"},
                                   {"after", "a"}},
                                  {{"digest", mix.local_validation[3].digest.hex()},
                                   {"label", "b"},
                                   {"before", nullptr},
                                   {"after", "b"}}}));
  EXPECT_EQ(found["wrong_count"], 1);
  EXPECT_EQ(found["wrong"][0]["after"], "a");
}

TEST(Answers, OfManyEachLabelIsShown) {
  std::vector<std::vector<data::ClassId>> labels(40, {0});
  labels.push_back({1});
  const data::Mix mix = mix_of(labels);
  std::vector<std::vector<std::uint32_t>> after(40, {0});
  after.push_back({1});
  const json found = changed_answers(
      mix, *kClassify, said(std::vector<std::vector<std::uint32_t>>(41, {2})), said(after));
  EXPECT_EQ(found["right_count"], 41);
  ASSERT_EQ(found["right"].size(), kMostChangedAnswers);
  EXPECT_EQ(found["right"][0]["label"], "a");
  EXPECT_EQ(found["right"][1]["label"], "b");
  EXPECT_EQ(found["right"][2]["label"], "a");
}

}  // namespace
}  // namespace moil::night
