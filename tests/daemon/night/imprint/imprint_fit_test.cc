#include "daemon/night/imprint/imprint_fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "daemon/night/imprint/imprint.h"

namespace moil::night {
namespace {

constexpr double kUsual = 2;

// One new class; what old rows say of every sample comes to 0.
ImprintScores scores_of(const std::vector<float>& known, const std::vector<float>& fresh) {
  ImprintScores scores;
  scores.classes = 1;
  for (const float value : known)
    scores.values.push_back(value), scores.label.push_back(kKnownLabel);
  for (const float value : fresh) scores.values.push_back(value), scores.label.push_back(0);
  scores.known.assign(scores.label.size(), 0);
  scores.loudest.assign(scores.label.size(), 0);
  return scores;
}

std::vector<float> evenly(float first, float last, std::size_t count) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(first +
                     (last - first) * static_cast<float>(i) / static_cast<float>(count - 1));
  return values;
}

// Known samples end where the new ones are; were each as much worth, none of the new would be
// heard.
TEST(ImprintFit, AFewSamplesAreHeardAmongManyKnownOnes) {
  const ImprintScores scores = scores_of(evenly(-5, 0.9F, 500), {1, 1, 1.1F, 1, 1});
  const ImprintFit fit = fit_imprint(scores, kUsual, /*each_by_itself=*/false);
  EXPECT_TRUE(fit.fitted);
  EXPECT_GE(right_when_left_out(scores, fit).right, 4U);
}

TEST(ImprintFit, WhatNamedRowsSayIsTakenAsFarAsItHelps) {
  ImprintScores scores = scores_of(evenly(-1, 1, 40), evenly(-1, 1, 8));
  for (const int label : scores.label) scores.named.push_back(label == kKnownLabel ? -3.0F : 3.0F);
  const ImprintFit telling = fit_imprint(scores, kUsual, /*each_by_itself=*/false);
  EXPECT_EQ(right_when_left_out(scores, telling).right, 8U);
  for (float& said : scores.named) said = -said;
  const ImprintFit misleading = fit_imprint(scores, kUsual, /*each_by_itself=*/false);
  EXPECT_LT(misleading.alike.share, telling.alike.share - 0.5);
}

// The row of the second class says nothing of its samples that are left out.
TEST(ImprintFit, ADiverseClassDoesNotQuietTheOthers) {
  ImprintScores scores;
  scores.classes = 2;
  const auto add = [&](int label, float own, float of_diverse, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const float wave = i % 2 == 0 ? 0.1F : -0.1F;
      scores.values.insert(scores.values.end(), {own + wave, of_diverse - wave});
      scores.label.push_back(label);
    }
  };
  add(kKnownLabel, -1, 0, 40);
  add(0, 1, 0, 10);
  add(1, 0, 0, 30);
  scores.known.assign(scores.label.size(), 0);
  scores.loudest.assign(scores.label.size(), 0);
  const ImprintFit as_others = fit_imprint(scores, kUsual, /*each_by_itself=*/false);
  EXPECT_EQ(as_others.diverse.offset, 0) << "of no row";
  scores.diverse = 1;
  const ImprintFit fit = fit_imprint(scores, kUsual, /*each_by_itself=*/false);
  EXPECT_GT(fit.alike.factor, as_others.alike.factor);
  EXPECT_LT(fit.alike.offset, fit.diverse.offset) << "what no row knows is its own";
}

// Each class has one sample, so that no row can be held against another one.
TEST(ImprintFit, WhereNobodyTellsNewRowsBeginAsTheNamedOnesAndTakeLittle) {
  ImprintScores scores = scores_of(evenly(-1, 1, 40), {kNoRow});
  scores.named = evenly(-4, 4, scores.label.size());
  const ImprintFit fit = fit_imprint(scores, kUsual, /*each_by_itself=*/false);
  EXPECT_FALSE(fit.fitted);
  EXPECT_EQ(fit.alike.factor, kUsual);
  EXPECT_EQ(fit.alike.share, 1);
  double stolen = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    const double output =
        kUsual * double{scores.values[i]} + double{scores.named[i]} + fit.alike.offset;
    stolen += 1 / (1 + std::exp(-output)) / 40;
  }
  EXPECT_NEAR(stolen, kStolen, 1e-6);
  EXPECT_EQ(right_when_left_out(scores, fit).samples, 0U);
}

}  // namespace
}  // namespace moil::night
