#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/layers/layer_harness.h"

namespace moil::test {
namespace {

std::vector<float> mask(double rate, std::uint64_t key, std::int64_t count) {
  HarnessOptions options;
  options.random_key = key;
  LayerHarness harness({"dropout", {{"rate", rate}}, {Dims{1, count}}}, options);
  harness.set_input(0, std::vector<float>(static_cast<std::size_t>(count), 1.0F));
  harness.forward();
  return harness.output();
}

double share_kept(const std::vector<float>& values) {
  double kept = 0;
  for (const float v : values) kept += v != 0;
  return kept / static_cast<double>(values.size());
}

TEST(Dropout, GradientsUseTheSameMask) {
  expect_gradients({"dropout", {{"rate", 0.3}}, {Dims{3, 41}}});
  expect_gradients({"dropout", {}, {Dims{2, 5, 3, 3}}});
  expect_gradients({"dropout", {{"rate", 0.0}}, {Dims{3, 41}}});
}

TEST(Dropout, KeepsTheRightShareAndScalesIt) {
  constexpr std::int64_t kCount = 200000;
  for (const double rate : {0.1, 0.5, 0.9}) {
    const auto values = mask(rate, 7, kCount);
    const double deviation = std::sqrt(rate * (1 - rate) / kCount);
    EXPECT_NEAR(share_kept(values), 1 - rate, 5 * deviation);
    for (const float v : values) {
      if (v != 0) {
        ASSERT_FLOAT_EQ(v, static_cast<float>(1 / (1 - rate)));
      }
    }
  }
}

// Neighbouring keys, neighbouring elements: agreement must be that of independent coins.
TEST(Dropout, KeysAndElementsAreIndependent) {
  constexpr std::int64_t kCount = 200000;
  const double allowed = 5 * std::sqrt(0.25 / kCount);
  const auto agreement = [](const std::vector<float>& a, const std::vector<float>& b,
                            std::size_t shift) {
    double same = 0;
    for (std::size_t i = 0; i + shift < a.size(); ++i) same += (a[i] != 0) == (b[i + shift] != 0);
    return same / static_cast<double>(a.size() - shift);
  };
  const auto base = mask(0.5, 1000, kCount);
  for (const std::uint64_t bit : {0, 1, 5, 31, 32, 33, 63})
    EXPECT_NEAR(agreement(base, mask(0.5, 1000 ^ (1ULL << bit), kCount), 0), 0.5, allowed) << bit;
  for (const std::size_t shift : {1, 2, 16, 1280})
    EXPECT_NEAR(agreement(base, base, shift), 0.5, allowed) << shift;
}

TEST(Dropout, TheSameDataAtInference) {
  LayerHarness harness({"dropout", {}, {Dims{2, 30}}}, {.training = false});
  EXPECT_EQ(harness.plan().in_place, InPlace::kSameData);
  harness.forward();
  EXPECT_EQ(harness.output(), harness.input(0));
}

TEST(Dropout, DoesNotDependOnThreads) {
  expect_thread_independent({"dropout", {}, {Dims{3, 50001}}});
}

TEST(Dropout, Errors) {
  for (const double rate : {-0.1, 1.0})
    expect_refused({"dropout", {{"rate", rate}}, {Dims{1, 2}}}, "rate");
}

}  // namespace
}  // namespace moil::test
