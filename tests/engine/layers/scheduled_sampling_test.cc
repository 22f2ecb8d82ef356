#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/layers/layer_harness.h"

namespace moil::test {
namespace {

LayerSpec sampling(double rate, const Dims& dims) {
  return {"scheduled_sampling", {{"rate", rate}}, {dims, dims}};
}

// Of each row, whether it is the own one; the values of a row come from one input alone.
std::vector<bool> owns(double rate, const Dims& dims, std::uint64_t key = 42) {
  HarnessOptions options;
  options.random_key = key;
  LayerHarness harness(sampling(rate, dims), options);
  const auto elements = static_cast<std::size_t>(dims.elements());
  harness.set_input(0, std::vector<float>(elements, 0.0F));
  harness.set_input(1, std::vector<float>(elements, 1.0F));
  harness.forward();
  const auto width = static_cast<std::size_t>(dims[dims.rank() - 1]);
  std::vector<bool> rows;
  for (std::size_t i = 0; i < elements; ++i) {
    const bool own = harness.output()[i] == 1;
    if (i % width == 0) rows.push_back(own);
    EXPECT_EQ(rows.back(), own) << i;
  }
  return rows;
}

double share(const std::vector<bool>& rows) {
  return static_cast<double>(std::ranges::count(rows, true)) / static_cast<double>(rows.size());
}

TEST(ScheduledSampling, DerivativesGoToTheChosenRows) {
  for (const double rate : {0.0, 0.3, 1.0}) {
    expect_gradients(sampling(rate, {9, 5}));
    expect_gradients(sampling(rate, {2, 7, 4}));
    for (const bool teacher : {false, true}) {
      HarnessOptions options;
      options.input_needs_derivative = {teacher, !teacher};
      expect_gradients(sampling(rate, {2, 7, 4}), options);
    }
  }
}

TEST(ScheduledSampling, TakesTheRightShareOfEach) {
  constexpr std::int64_t kRows = 50000;
  for (const double rate : {0.1, 0.5, 0.9}) {
    const double deviation = std::sqrt(rate * (1 - rate) / kRows);
    EXPECT_NEAR(share(owns(rate, {kRows, 3})), rate, 5 * deviation);
  }
  EXPECT_EQ(share(owns(0, {100, 3})), 0);
  EXPECT_EQ(share(owns(1, {100, 3})), 1);
}

TEST(ScheduledSampling, ChoosesByTheKeyAlone) {
  const Dims dims{40, 25, 3};
  EXPECT_EQ(owns(0.5, dims, 7), owns(0.5, dims, 7));
  std::size_t same = 0;
  const auto a = owns(0.5, dims, 7), b = owns(0.5, dims, 8);
  for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i] ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(same) / 1000, 0.5, 5 * std::sqrt(0.25 / 1000));
}

TEST(ScheduledSampling, TheTeachersAtInference) {
  LayerHarness harness(sampling(0.7, {20, 3}), {.training = false});
  harness.forward();
  EXPECT_EQ(harness.output(), harness.input(0));
}

TEST(ScheduledSampling, DoesNotDependOnThreads) {
  expect_thread_independent(sampling(0.5, {700, 101}));
}

TEST(ScheduledSampling, Errors) {
  for (const double rate : {-0.1, 1.1}) expect_refused(sampling(rate, {1, 2}), "rate");
  expect_refused({"scheduled_sampling", {}, {Dims{2, 3}, Dims{2, 4}}}, "input 1 is 2x4");
  expect_refused({"scheduled_sampling", {}, {Dims{2, 3}}}, "2 inputs");
  expect_refused({"scheduled_sampling", {}, {Dims{2, 3, 4, 4}, Dims{2, 3, 4, 4}}}, "");
}

}  // namespace
}  // namespace moil::test
