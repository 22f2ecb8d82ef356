#include "daemon/night/data/mix_record.h"

#include "daemon/models/class_space.h"
#include "tests/daemon/night/support.h"

namespace moil::night {
namespace {

const NumberImages kRecordedGlobal({"a", "b", "c"}, 8);
const NumberImages kRecordedLocal({"b", "x", "y"}, 8, 1000);

data::Mix draw_recorded() { return data::mix(kRecordedGlobal, kRecordedLocal, {}, 0.5, 7); }

TEST(MixRecord, RoundTrip) {
  data::Mix mix = draw_recorded();
  mix.train.back().scene = 12;
  mix.train.front().parts = 5;
  mix.train.front().silent = {1, 4};
  mix.train[1].silent = {0};
  mix.train[2].denied = {1, 2};
  mix.denied_in_vain = {"yeti"};
  std::size_t lost = 0;
  const data::Mix again = mix_from_json(to_json(mix), kRecordedGlobal, kRecordedLocal, lost);
  EXPECT_EQ(lost, 0U);
  EXPECT_EQ(again.classes, mix.classes);
  ASSERT_EQ(again.train.size(), mix.train.size());
  for (std::size_t i = 0; i < mix.train.size(); ++i) {
    EXPECT_EQ(again.train[i].ref, mix.train[i].ref);
    EXPECT_EQ(again.train[i].labels, mix.train[i].labels);
    EXPECT_EQ(again.train[i].parts, mix.train[i].parts);
    EXPECT_EQ(again.train[i].scene, mix.train[i].scene);
    EXPECT_EQ(again.train[i].silent, mix.train[i].silent);
    EXPECT_EQ(again.train[i].denied, mix.train[i].denied);
  }
  EXPECT_EQ(again.denied_in_vain, mix.denied_in_vain);
  EXPECT_EQ(again.global_validation.size(), mix.global_validation.size());
  EXPECT_EQ(again.local_validation.size(), mix.local_validation.size());
  EXPECT_EQ(count_global(again), count_global(mix));
}

TEST(MixRecord, ForgottenSamplesAreLeftOutAndCounted) {
  const data::Mix mix = draw_recorded();
  const NumberImages fewer({"b", "x", "y"}, 6, 1000);
  std::size_t lost = 0;
  const data::Mix again = mix_from_json(to_json(mix), kRecordedGlobal, fewer, lost);
  EXPECT_GT(lost, 0U);
  EXPECT_EQ(
      again.train.size() + again.global_validation.size() + again.local_validation.size() + lost,
      mix.train.size() + mix.global_validation.size() + mix.local_validation.size());
}

TEST(MixRecord, DamageIsAnError) {
  std::size_t lost = 0;
  EXPECT_EQ(error_of([&] {
              (void)mix_from_json({{"classes", 3}}, kRecordedGlobal, kRecordedLocal, lost);
            }),
            ErrorCode::kBadData);
}

TEST(ClassSpace, ModelRowsComeFirst) {
  data::Mix mix = draw_recorded();
  const auto before = mix;
  renumber_classes(mix, {"c", "a", "y", "b"});
  EXPECT_EQ(mix.classes, (std::vector<std::string>{"c", "a", "y", "b", "x"}));
  for (std::size_t i = 0; i < mix.train.size(); ++i) {
    EXPECT_EQ(mix.classes[mix.train[i].labels[0]], before.classes[before.train[i].labels[0]]);
  }
}

TEST(ClassSpace, WhatSamplesAreNotIsRenumberedToo) {
  data::Mix mix = draw_recorded();
  mix.train.back().denied = {0, 1};  // "a" and "b"
  renumber_classes(mix, {"c", "b", "a"});
  EXPECT_EQ(mix.train.back().denied, (std::vector<data::ClassId>{1, 2}));
}

TEST(ClassSpace, APackClassThatTheModelLacksIsRefused) {
  data::Mix mix = draw_recorded();
  std::string text;
  EXPECT_EQ(error_of(
                [&] {
                  renumber_classes(mix, {"a", "b"});
                },
                &text),
            ErrorCode::kInvalidArgument);
  EXPECT_NE(text.find("\"c\""), std::string::npos) << text;
}

}  // namespace
}  // namespace moil::night
