#include "datasets/sampling/importance.h"

#include <cmath>
#include <limits>

#include "base/json/json.h"
#include "datasets/sampling/per_class.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::expect_error;
using ::testing::Each;

constexpr std::size_t kDrawn = 40;

// A few samples have far larger gradients than the others.
float bound_of(std::size_t sample) { return sample % 10 == 0 ? 5.0F : 0.1F; }

ImportanceSampler seen_all() {
  ImportanceSampler sampler(kDrawn, 7);
  for (std::size_t i = 0; i < kDrawn; ++i) sampler.see(i, bound_of(i));
  return sampler;
}

std::vector<int> counts(const std::vector<std::size_t>& drawn) {
  std::vector<int> result(kDrawn);
  for (const std::size_t i : drawn) ++result.at(i);
  return result;
}

TEST(ImportanceSampler, TheFirstEpochShowsEachOnce) {
  ImportanceSampler sampler(kDrawn, 7);
  EXPECT_EQ(sampler.epoch(0), epoch_order(kDrawn, 7, 0));
  EXPECT_THAT(sampler.weights(), Each(1.0F));
  EXPECT_EQ(sampler.gain(), 1);
}

TEST(ImportanceSampler, DrawsInProportionToTheBounds) {
  ImportanceSampler sampler = seen_all();
  const auto drawn = sampler.epoch(1);
  EXPECT_EQ(drawn.size(), kDrawn);
  const auto often = counts(drawn);
  for (std::size_t i = 0; i < kDrawn; ++i) {
    const double share = bound_of(i) / (4 * 5 + 36 * 0.1);
    const double expected = 0.25 + 0.75 * kDrawn * share;
    EXPECT_LE(std::abs(often[i] - expected), 1) << i;
    EXPECT_FLOAT_EQ(sampler.weights()[i], static_cast<float>(1 / expected));
  }
  EXPECT_NE(drawn, sampler.epoch(2)) << "another draw each epoch";
}

// What weighted draws add up to is, over many epochs, the sum over all samples.
TEST(ImportanceSampler, TheWeightedSumIsUnbiased) {
  ImportanceSampler sampler = seen_all();
  constexpr int kEpochs = 4000;
  std::vector<double> sums(kDrawn);
  for (int e = 1; e <= kEpochs; ++e)
    for (const std::size_t i : sampler.epoch(e)) sums[i] += double{sampler.weights()[i]};
  for (std::size_t i = 0; i < kDrawn; ++i) EXPECT_NEAR(sums[i] / kEpochs, 1, 0.12) << i;
}

TEST(ImportanceSampler, TellsByWhatTheVarianceFalls) {
  EXPECT_GT(seen_all().gain(), 2.5);
  ImportanceSampler alike(kDrawn, 7);
  for (std::size_t i = 0; i < kDrawn; ++i) alike.see(i, 3);
  EXPECT_DOUBLE_EQ(alike.gain(), 1);
}

TEST(ImportanceSampler, BoundsThatAreNoNumbersAreLeftOut) {
  ImportanceSampler sampler = seen_all();
  const auto state = sampler.state();
  sampler.see(1, std::numeric_limits<float>::quiet_NaN());
  sampler.see(2, std::numeric_limits<float>::infinity());
  sampler.see(3, -1);
  EXPECT_EQ(sampler.state(), state);
}

TEST(ImportanceSampler, WithoutAnyGradientAllAreAlike) {
  ImportanceSampler sampler(kDrawn, 7);
  for (std::size_t i = 0; i < kDrawn; ++i) sampler.see(i, 0);
  EXPECT_THAT(counts(sampler.epoch(1)), Each(1));
  EXPECT_THAT(sampler.weights(), Each(1.0F));
}

// In the middle of an epoch, when steps have seen other bounds than it was drawn by.
TEST(ImportanceSampler, AResumedRunDrawsTheSame) {
  ImportanceSampler sampler = seen_all();
  const auto drawn = sampler.epoch(3);
  const auto weights = sampler.weights();
  for (std::size_t i = 0; i < kDrawn; ++i) sampler.see(i, 0.01F * static_cast<float>(i) / 3);
  ImportanceSampler resumed(kDrawn, 7);
  resumed.restore(parsed_json(sampler.state().dump()));
  EXPECT_EQ(resumed.epoch(3), drawn);
  EXPECT_EQ(resumed.weights(), weights);
  EXPECT_EQ(resumed.epoch(4), sampler.epoch(4));
  EXPECT_EQ(resumed.weights(), sampler.weights());
}

TEST(ImportanceSampler, RefusesTheStateOfOtherSamples) {
  ImportanceSampler fewer(3, 7);
  expect_error(ErrorCode::kBadData, {"other samples"}, [&] { fewer.restore(seen_all().state()); });
}

}  // namespace
}  // namespace moil::data
