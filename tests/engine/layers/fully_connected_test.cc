#include <gtest/gtest.h>

#include "tests/engine/device/conv/conv_reference.h"
#include "tests/engine/layers/layer_harness.h"

namespace moil::test {
namespace {

LayerSpec fully_connected(const Dims& input, std::int64_t units, Properties more = {}) {
  more["units"] = units;
  return {"fully_connected", std::move(more), {input}};
}

std::vector<double> product_of(const LayerHarness& harness, std::size_t units) {
  const auto &x = harness.input(0), w = harness.weight(0);
  const bool biased = harness.weight_specs().size() > 1;
  const auto bias = biased ? harness.weight(1) : std::vector<float>(units, 0.0F);
  const std::size_t features = w.size() / units;
  std::vector<double> y;
  for (std::size_t row = 0; row < x.size() / features; ++row)
    for (std::size_t unit = 0; unit < units; ++unit) {
      y.push_back(bias[unit]);
      for (std::size_t f = 0; f < features; ++f)
        y.back() += double{x[row * features + f]} * double{w[unit * features + f]};
    }
  return y;
}

TEST(FullyConnected, VectorsAndSequences) {
  for (const Dims& input : {Dims{1, 7}, Dims{33, 130}, Dims{3, 5, 64}}) {
    for (const bool training : {true, false}) {
      HarnessOptions options;
      options.training = training;
      options.train_weight.assign(2, training);
      options.input_needs_derivative = {training};
      LayerHarness harness(fully_connected(input, 10), options);
      EXPECT_EQ(harness.setup().outputs[0].dims.back(), 10);
      EXPECT_EQ(harness.setup().outputs[0].dims.rank(), input.rank());
      harness.forward();
      EXPECT_LT(difference(harness.output(), product_of(harness, 10)), 1e-5) << input.to_string();
    }
  }
}

TEST(FullyConnected, WithoutBias) {
  LayerHarness harness(fully_connected({4, 9}, 6, {{"bias", false}}));
  ASSERT_EQ(harness.weight_specs().size(), 1U);
  harness.forward();
  EXPECT_LT(difference(harness.output(), product_of(harness, 6)), 1e-5);
}

TEST(FullyConnected, GradientsAgreeWithDifferences) {
  expect_gradients(fully_connected({5, 17}, 11));
  expect_gradients(fully_connected({2, 3, 20}, 11));
}

TEST(FullyConnected, LifespansNameOnlyWhatIsRead) {
  const auto plan = [](bool weight, bool bias, bool derivative) {
    HarnessOptions options;
    options.train_weight = {weight, bias};
    options.input_needs_derivative = {derivative};
    expect_gradients(fully_connected({4, 8}, 3), options);
    return LayerHarness(fully_connected({4, 8}, 3), options).plan();
  };
  EXPECT_EQ(plan(true, true, false).inputs[0], Lifespan::kForward | Lifespan::kComputeGradient);
  EXPECT_EQ(plan(false, true, true).inputs[0], Lifespan::kForward);
  EXPECT_EQ(plan(false, true, false).output_derivatives, Lifespan::kComputeGradient);
  EXPECT_EQ(plan(false, false, true).output_derivatives, Lifespan::kComputeDerivative);
}

TEST(FullyConnected, InferenceDoesNotDependOnTheBatch) {
  const auto spec = fully_connected({19, 301}, 37, {{"activation", std::string("relu")}});
  expect_batch_independent(spec);
  const LayerHarness harness(
      spec, {.training = false, .train_weight = {false, false}, .input_needs_derivative = {false}});
  ASSERT_EQ(harness.plan().saved.size(), 1U);  // packed
  EXPECT_EQ(harness.plan().saved[0].lifespan, Lifespan::kMax);
}

TEST(FullyConnected, WhatIsWrongIsRefusedByName) {
  expect_refused({"fully_connected", {}, {Dims{1, 2}}}, "\"units\" is missing");
  expect_refused(fully_connected({1, 2}, 0), "at least 1");
  expect_refused(fully_connected({1, 2, 3, 4}, 3), "flatten it first");
  expect_refused(fully_connected({1, 2}, 3, {{"unit", std::int64_t{3}}}),
                 "unknown property \"unit\"");
  // What is fused cannot be trained.
  EXPECT_NE(error_of(fully_connected({1, 2}, 3, {{"activation", std::string("relu")}}), true), "");
}

}  // namespace
}  // namespace moil::test
