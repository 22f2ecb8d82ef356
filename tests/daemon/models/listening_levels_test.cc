#include "daemon/models/listening_levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/json/json.h"
#include "base/random.h"
#include "tests/errors.h"

namespace moil::night {
namespace {

// Stretches of a second each, whose probabilities fall off exponentially.
float drawn(Random& random) {
  return static_cast<float>(std::min(1.0, -0.06 * std::log(1 - random.unit())));
}

LabelLevels told_by(std::size_t seconds, std::uint64_t seed) {
  Random random(seed);
  PeakCollector collector;
  for (std::size_t recordings = seconds / 10; recordings > 0; --recordings) {
    std::vector<float> peaks;
    for (int i = 0; i < 10; ++i) peaks.push_back(drawn(random));
    collector.add_peaks(peaks, 10);
  }
  return collector.take();
}

// How many of the stretches of a hundred hours reach the level, an hour.
double reached(double level, std::uint64_t seed) {
  Random random(seed);
  int count = 0;
  for (int i = 0; i < 360'000; ++i) count += double{drawn(random)} >= level ? 1 : 0;
  return count / 100.0;
}

TEST(ListeningLevels, MinutesTellOfHours) {
  for (const std::size_t seconds : {180U, 600U, 3600U, 36'000U}) {
    for (const double wanted : {10.0, 1.0}) {
      double sum = 0;
      for (std::uint64_t seed = 1; seed <= 20; ++seed)
        sum += std::log(reached(level_for(told_by(seconds, seed), wanted), 99) + 0.01);
      const double mean = std::exp(sum / 20);
      EXPECT_GT(mean, wanted / 3) << seconds << " " << wanted;
      EXPECT_LT(mean, wanted * 3) << seconds << " " << wanted;
    }
  }
}

TEST(ListeningLevels, FewerFalseAcceptsAskForMore) {
  const LabelLevels label = told_by(600, 1);
  double before = 0;
  for (const double wanted : {1000.0, 100.0, 10.0, 1.0, 0.1, 0.001}) {
    const double level = level_for(label, wanted);
    EXPECT_GE(level, before) << wanted;
    EXPECT_LT(level, 1) << "which something has to reach";
    before = level;
  }
}

TEST(ListeningLevels, WhatIsHeardWithTheLabelMayRaiseThem) {
  LabelLevels label = told_by(600, 1);
  const double needed = level_for(label, 1);
  label.spoken = std::vector<double>(10, 0.8);
  label.spoken.back() = 0.1;  // one of ten was missed
  EXPECT_GT(level_for(label, 1), needed);
  EXPECT_NEAR(level_for(label, 1), (needed + 0.8) / 2, 1e-12);
  EXPECT_EQ(heard_from(label, level_for(label, 1)), 9U);
  label.spoken.assign(10, needed / 2);
  EXPECT_EQ(level_for(label, 1), needed) << "recall never buys false accepts";
  EXPECT_EQ(heard_from(label, needed), 0U);
}

TEST(ListeningLevels, FewStretchesTellNothing) {
  PeakCollector collector;
  for (std::size_t i = 1; i < PeakCollector::kLeastStretches; ++i) {
    collector.add_peaks({0.2F}, 1);
    EXPECT_FALSE(collector.tells());
  }
  collector.add_peaks({0.2F}, 1);
  EXPECT_TRUE(collector.tells());
  const LabelLevels label = collector.take();
  EXPECT_EQ(label.seconds, PeakCollector::kLeastStretches);
  EXPECT_GE(level_for(label, 1), 0.2) << "they are all alike";
}

TEST(ListeningLevels, MemoryDoesNotGrowWithWhatIsHeard) {
  PeakCollector collector;
  Random random(3);
  for (int i = 0; i < 5000; ++i) {
    collector.add_peaks({drawn(random), drawn(random)}, 2);
    collector.add_spoken(drawn(random));
  }
  const LabelLevels label = collector.take();
  EXPECT_EQ(label.stretches, 10'000U);
  EXPECT_EQ(label.peaks.size(), 64U);
  EXPECT_EQ(label.spoken.size(), 1000U);
  EXPECT_TRUE(std::ranges::is_sorted(label.peaks, std::greater{}));
}

TEST(ListeningLevels, AreReadAsTheyWereWritten) {
  ListeningLevels levels{{"my word", told_by(100, 1)}, {"knock", told_by(200, 2)}};
  levels["knock"].spoken = {0.9, 0.25};
  EXPECT_EQ(listening_levels_from_json(to_json(levels)), levels);
}

TEST(ListeningLevels, DamageIsTold) {
  const nlohmann::json whole = to_json({{"knock", told_by(100, 1)}});
  const auto refused = [&](const char* pointer, const nlohmann::json& value) {
    nlohmann::json damaged = whole;
    damaged[nlohmann::json::json_pointer(pointer)] = value;
    test::expect_error(ErrorCode::kBadData,
                       "listening.json: ", [&] { (void)listening_levels_from_json(damaged); });
  };
  for (const nlohmann::json& value :
       {nlohmann::json(nullptr), nlohmann::json("a"), nlohmann::json(-1),
        nlohmann::json::array({"a"}), nlohmann::json::array({0.1, 0.2}),
        nlohmann::json::array({1.5, 0.2})}) {
    refused("/labels/knock/peaks", value);
    refused("/labels/knock/spoken", value);
    refused("/labels/knock/seconds", value);
    refused("/labels/knock/stretches", value);
    refused("/labels/knock", value);
    refused("/labels", value);
  }
  refused("/labels/knock/seconds", 0);
  refused("/labels/knock/peaks", nlohmann::json::array());
}

}  // namespace
}  // namespace moil::night
