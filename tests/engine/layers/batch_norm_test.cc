#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/layers/layer_harness.h"

namespace moil::test {
namespace {

const LayerSpec kNormImage{"batch_norm", {}, {Dims{4, 19, 3, 5}}};
const LayerSpec kNormVector{"batch_norm", {}, {Dims{6, 21}}};

LayerSpec frozen(LayerSpec spec) {
  spec.properties["frozen"] = true;
  return spec;
}

enum Weight { kGamma, kBeta, kMean, kVar };

TEST(BatchNorm, NormalisesByTheBatchAndFollowsIt) {
  LayerHarness harness(kNormImage);
  const auto mean_before = harness.weight(kMean), var_before = harness.weight(kVar);
  harness.forward();
  const int rows = 4 * 3 * 5;
  for (std::size_t c = 0; c < 19; ++c) {
    double sum = 0, squares = 0;
    for (std::size_t r = 0; r < rows; ++r) sum += harness.input(0)[r * 19 + c];
    const double mean = sum / rows;
    for (std::size_t r = 0; r < rows; ++r)
      squares += std::pow(harness.input(0)[r * 19 + c] - mean, 2);
    const double var = squares / rows;
    EXPECT_NEAR(harness.weight(kMean)[c], 0.9 * mean_before[c] + 0.1 * mean, 1e-6);
    EXPECT_NEAR(harness.weight(kVar)[c], 0.9 * var_before[c] + 0.1 * squares / (rows - 1), 1e-5);
    for (std::size_t r = 0; r < rows; ++r) {
      const double expected = harness.weight(kGamma)[c] * (harness.input(0)[r * 19 + c] - mean) /
                                  std::sqrt(var + 1e-5) +
                              harness.weight(kBeta)[c];
      EXPECT_NEAR(harness.output()[r * 19 + c], expected, 1e-5);
    }
  }
}

TEST(BatchNorm, FrozenUsesAndKeepsTheRunningStatistics) {
  for (const bool training : {false, true}) {
    LayerHarness harness(training ? frozen(kNormVector) : kNormVector, {.training = training});
    const auto mean = harness.weight(kMean), var = harness.weight(kVar);
    harness.forward();
    EXPECT_EQ(harness.weight(kMean), mean);
    EXPECT_EQ(harness.weight(kVar), var);
    for (std::size_t i = 0; i < harness.output().size(); ++i) {
      const std::size_t c = i % 21;
      const double expected =
          harness.weight(kGamma)[c] * (harness.input(0)[i] - mean[c]) / std::sqrt(var[c] + 1e-5) +
          harness.weight(kBeta)[c];
      EXPECT_NEAR(harness.output()[i], expected, 1e-5);
    }
  }
}

// Which weights train, and whether the input needs a derivative, decides what is kept and computed.
TEST(BatchNorm, GradientsAgreeWithDifferencesInEveryCombination) {
  for (const LayerSpec& spec : {kNormImage, kNormVector, frozen(kNormImage), frozen(kNormVector)}) {
    for (const bool gamma : {false, true}) {
      for (const bool beta : {false, true}) {
        for (const bool input : {false, true}) {
          if (!gamma && !beta && !input) continue;
          SCOPED_TRACE(::testing::Message() << gamma << beta << input);
          HarnessOptions options;
          options.train_weight = {gamma, beta, false, false};
          options.input_needs_derivative = {input};
          expect_gradients(spec, options);
        }
      }
    }
  }
}

TEST(BatchNorm, KeepsItsInputOnlyWhereNeeded) {
  HarnessOptions beta_alone;
  beta_alone.train_weight = {false, true, false, false};
  beta_alone.input_needs_derivative = {false};
  EXPECT_EQ(LayerHarness(kNormImage, beta_alone).plan().inputs[0], Lifespan::kForward);
  HarnessOptions passes_through;
  passes_through.train_weight = {false, false, false, false};
  LayerHarness through(frozen(kNormImage), passes_through);
  EXPECT_EQ(through.plan().inputs[0], Lifespan::kForward);
  EXPECT_TRUE(through.plan().saved.empty());
}

// fp32 sums of squares around 0 would lose the variance altogether here.
TEST(BatchNorm, VarianceFarFromZero) {
  LayerHarness harness({"batch_norm", {}, {Dims{64, 8, 4, 4}}});
  auto values = harness.input(0);
  for (float& v : values) v = 10000 + v;
  harness.set_input(0, values);
  harness.set_weight(kVar, std::vector<float>(8, 0.0F));
  harness.forward();
  for (const float running : harness.weight(kVar)) EXPECT_NEAR(running, 0.1 * 4.0 / 3, 0.02);
}

TEST(BatchNorm, ConstantChannelIsFinite) {
  LayerHarness harness({"batch_norm", {}, {Dims{8, 3}}});
  harness.set_input(0, std::vector<float>(24, 3.7F));
  harness.forward();
  harness.backward();
  for (std::size_t i = 0; i < 24; ++i)
    EXPECT_NEAR(harness.output()[i], harness.weight(kBeta)[i % 3], 1e-3);
  for (const float d : harness.input_derivative()) EXPECT_TRUE(std::isfinite(d));
}

TEST(BatchNorm, DependsOnNeitherThreadsNorBatch) {
  expect_thread_independent({"batch_norm", {}, {Dims{8, 40, 20, 21}}});
  expect_thread_independent(frozen({"batch_norm", {}, {Dims{8, 40, 20, 21}}}));
  expect_batch_independent(kNormImage);
}

TEST(BatchNorm, Errors) {
  expect_refused({"batch_norm", {}, {Dims{1, 5}}}, "one value a channel", true);
  EXPECT_EQ(error_of({"batch_norm", {}, {Dims{1, 5}}}, false), "");
  expect_refused({"batch_norm", {{"epsilon", 0.0}}, {Dims{2, 5}}}, "epsilon");
  expect_refused({"batch_norm", {{"momentum", 1.5}}, {Dims{2, 5}}}, "momentum");
}

}  // namespace
}  // namespace moil::test
