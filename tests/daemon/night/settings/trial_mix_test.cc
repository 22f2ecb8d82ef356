#include "daemon/night/settings/trial_mix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace moil::night {
namespace {

using data::MixedSample;
using data::Source;

MixedSample sample(Source source, std::size_t index, data::ClassId label) {
  MixedSample s;
  s.ref = {source, index};
  s.digest = data::digest_of(std::to_string(index) + (source == Source::kLocal ? "l" : "g"));
  s.labels = {label};
  return s;
}

// Labels 0 and 1 are global, 2 and 3 local, of 20 samples each.
data::Mix mix() {
  data::Mix mix;
  mix.classes = {"a", "b", "c", "d"};
  mix.global_classes = 2;
  for (std::size_t i = 0; i < 40; ++i)
    mix.train.push_back(sample(Source::kGlobal, i, static_cast<data::ClassId>(i % 2)));
  for (std::size_t i = 0; i < 40; ++i)
    mix.train.push_back(sample(Source::kLocal, i, static_cast<data::ClassId>(2 + i % 2)));
  mix.local_validation.push_back(sample(Source::kLocal, 1000, 2));
  mix.global_validation.push_back(sample(Source::kGlobal, 1000, 0));
  return mix;
}

std::set<std::string> digests(const std::vector<MixedSample>& samples) {
  std::set<std::string> set;
  for (const MixedSample& s : samples) set.insert(s.digest.hex());
  return set;
}

TEST(TrialMix, HoldsOutTheLatestOfEachLabelAndNothingThatJudges) {
  const data::Mix trial = trial_mix(mix(), true, 1);
  EXPECT_EQ(trial.train.size(), 60U);
  ASSERT_EQ(trial.local_validation.size(), 10U);
  for (const MixedSample& s : trial.local_validation) EXPECT_GE(s.ref.index, 30U);
  EXPECT_EQ(trial.global_validation.size(), 10U);
  const std::set<std::string> known = digests(mix().train);
  std::set<std::string> seen = digests(trial.train);
  for (const auto* list : {&trial.local_validation, &trial.global_validation})
    for (const MixedSample& s : *list) {
      EXPECT_TRUE(known.contains(s.digest.hex())) << "a sample that judges the night";
      EXPECT_TRUE(seen.insert(s.digest.hex()).second) << "on both sides";
    }
}

TEST(TrialMix, ScenesLieOnOneSide) {
  data::Mix bursts = mix();
  for (MixedSample& s : bursts.train)
    if (s.ref.source == Source::kLocal) s.scene = static_cast<std::int64_t>(s.ref.index / 8);
  const data::Mix trial = trial_mix(bursts, true, 1);
  std::set<std::int64_t> trained;
  for (const MixedSample& s : trial.train)
    if (s.ref.source == Source::kLocal) trained.insert(s.scene);
  EXPECT_FALSE(trial.local_validation.empty());
  for (const MixedSample& s : trial.local_validation) EXPECT_FALSE(trained.contains(s.scene));
}

TEST(TrialMix, LabelsOfOneSceneKeepIt) {
  data::Mix one = mix();
  for (MixedSample& s : one.train)
    if (s.ref.source == Source::kLocal) s.scene = 7;
  EXPECT_TRUE(trial_mix(one, true, 1).train.empty()) << "nothing is left to judge trials by";
}

// A quarter of a few is none: some labels hold back one, the others none, and each trains on most.
TEST(TrialMix, ManySmallLabelsHoldBackAQuarterTogether) {
  for (const std::size_t per_label : {2, 3, 5, 7}) {
    constexpr std::size_t kLabels = 61;
    data::Mix small;
    for (std::size_t i = 0; i < kLabels * per_label; ++i)
      small.train.push_back(sample(Source::kLocal, i, static_cast<data::ClassId>(i % kLabels)));
    const data::Mix trial = trial_mix(small, true, 1);
    const auto all = static_cast<double>(small.train.size());
    EXPECT_NEAR(static_cast<double>(trial.local_validation.size()), all / 4, 2) << per_label;
    EXPECT_EQ(trial.local_validation.size() + trial.train.size(), small.train.size());
    std::map<data::ClassId, std::size_t> trained;
    for (const MixedSample& s : trial.train) ++trained[s.labels[0]];
    EXPECT_EQ(trained.size(), kLabels);
    for (const auto& [label, count] : trained) EXPECT_GE(2 * count, per_label) << label;
    for (const MixedSample& s : trial.local_validation)
      EXPECT_GE(s.ref.index, kLabels * (per_label / 2)) << "it is not among its label's latest";
  }
}

// Labels of one sample have none to give, and others do not give for them.
TEST(TrialMix, ALabelGivesHalfOfItsSamplesAtMost) {
  data::Mix odd;
  for (std::size_t i = 0; i < 100; ++i)
    odd.train.push_back(sample(Source::kLocal, i, static_cast<data::ClassId>(i)));
  for (std::size_t i = 100; i < 140; ++i) odd.train.push_back(sample(Source::kLocal, i, 100));
  EXPECT_EQ(trial_mix(odd, true, 1).local_validation.size(), 11U);
}

TEST(TrialMix, WhatTheNightDoesNotTrainOnIsHeldOut) {
  data::Mix local = mix();
  std::vector<MixedSample> global;
  for (const MixedSample& s : local.train)
    if (s.ref.source == Source::kGlobal) global.push_back(s);
  std::erase_if(local.train, [](const MixedSample& s) { return s.ref.source == Source::kGlobal; });
  const data::Mix trial = trial_mix(local, true, 1, global);
  EXPECT_EQ(digests(trial.global_validation), digests(global));
  EXPECT_EQ(trial.train.size(), 30U);
}

TEST(TrialMix, NumbersHaveNoLabels) {
  data::Mix numbers = mix();
  for (std::size_t i = 40; i < 80; ++i) numbers.train[i].labels = {static_cast<data::ClassId>(i)};
  EXPECT_EQ(trial_mix(numbers, false, 1).local_validation.size(), 10U);
  EXPECT_TRUE(trial_mix(numbers, true, 1).local_validation.empty());
}

TEST(TrialMix, IsTheSameForTheSameSeed) {
  EXPECT_EQ(digests(trial_mix(mix(), true, 3).train), digests(trial_mix(mix(), true, 3).train));
  EXPECT_NE(digests(trial_mix(mix(), true, 3).train), digests(trial_mix(mix(), true, 4).train));
}

TEST(TrialMix, HoldsOutTheLatestOfWhatIsDeniedToo) {
  data::Mix with = mix();
  for (std::size_t i = 0; i < 20; ++i) {
    with.train.push_back(sample(Source::kLocal, 100 + i, 0));
    with.train.back().labels.clear();
    with.train.back().denied = {2};
  }
  const data::Mix trial = trial_mix(with, /*by_label=*/true, 1);
  const auto denied = [](const std::vector<MixedSample>& samples) {
    return std::ranges::count_if(samples, &MixedSample::is_denied_alone);
  };
  EXPECT_EQ(denied(trial.local_validation), 5);
  EXPECT_EQ(denied(trial.train), 15);
}

}  // namespace
}  // namespace moil::night
