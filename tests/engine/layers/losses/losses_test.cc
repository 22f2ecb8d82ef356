#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/layers/layer_harness.h"

namespace moil::test {
namespace {

float loss_of(const LayerSpec& spec, const std::vector<float>& prediction,
              const std::vector<float>& target) {
  LayerHarness harness(spec);
  harness.set_input(0, prediction);
  harness.set_input(1, target);
  harness.forward();
  return harness.output()[0];
}

LayerSpec loss(const std::string& type, const Dims& dims, Properties properties = {}) {
  return {type, std::move(properties), {dims, dims}};
}

TEST(SoftmaxCrossEntropy, ByHand) {
  EXPECT_NEAR(
      loss_of(loss("softmax_cross_entropy", {2, 2}), {0, 0, 0, std::log(3.0F)}, {1, 0, 0, 1}),
      (std::log(2.0) + std::log(4.0 / 3)) / 2, 1e-6);
  EXPECT_NEAR(loss_of(loss("softmax_cross_entropy", {1, 2}), {1000, -1000}, {0, 1}), 2000, 1e-3);
}

// A row without a target is padding: the others are the mean, or all are.
TEST(SoftmaxCrossEntropy, LeavesOutPadding) {
  const Dims dims{2, 3, 2};
  const std::vector<float> x = {0, 0, 5, -5, 0, std::log(3.0F), 7, 1, 2, 3, 4, 4};
  const std::vector<float> target = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0};
  const double sum = std::log(2.0) + std::log(4.0 / 3);
  for (const bool counted : {false, true}) {
    LayerSpec spec = loss("softmax_cross_entropy", dims);
    if (counted) spec.properties["reduction"] = std::string("counted");
    LayerHarness harness(spec);
    EXPECT_EQ(harness.plan().mixes_samples, counted);
    harness.set_input(0, x);
    harness.set_input(1, target);
    harness.forward();
    EXPECT_NEAR(harness.output()[0], sum / (counted ? 2 : 6), 1e-6);
    harness.backward();
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(harness.input_derivative()[i] != 0, i < 2 || i / 2 == 2) << i;
    harness.set_input(1, std::vector<float>(x.size(), 0));
    harness.forward();
    EXPECT_EQ(harness.output()[0], 0);
    expect_gradients(spec);
    expect_thread_independent(spec);
  }
  expect_refused(loss("softmax_cross_entropy", dims, {{"reduction", std::string("sum")}}),
                 "\"mean\" or \"counted\"");
}

struct LossAndSlope {
  double loss = 0;
  std::vector<float> slope;
};

LossAndSlope softmax_cross_entropy_of(const Dims& dims, const std::vector<float>& x,
                                      const std::vector<float>& target) {
  LayerHarness harness(loss("softmax_cross_entropy", dims));
  harness.set_input(0, x);
  harness.set_input(1, target);
  harness.forward();
  harness.backward();
  return {double{harness.output()[0]}, harness.input_derivative()};
}

// It is any of those that are NaN: the loss is that of their probability together, and what the
// network knew of them stays as it is between them.
TEST(SoftmaxCrossEntropy, NaNMayBeIt) {
  const std::vector<float> x = {0, std::log(2.0F), std::log(3.0F)};
  const auto open = softmax_cross_entropy_of({1, 3}, x, {NAN, 0, NAN});
  EXPECT_NEAR(open.loss, std::log(6.0 / 4), 1e-6);
  const std::vector<double> slope = {1.0 / 6 - 1.0 / 4, 1.0 / 3, 3.0 / 6 - 3.0 / 4};
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(double{open.slope[i]}, slope[i], 1e-6) << i;
  const auto shared = softmax_cross_entropy_of({1, 3}, x, {NAN, 0.25F, NAN});
  EXPECT_NEAR(shared.loss, 0.25 * std::log(6.0 / 2) + 0.75 * std::log(6.0 / 4), 1e-6);
  const auto nothing = softmax_cross_entropy_of({1, 3}, x, {NAN, NAN, NAN});
  EXPECT_EQ(nothing.loss, 0);
  EXPECT_EQ(nothing.slope, std::vector<float>(3, 0));
}

TEST(SoftmaxCrossEntropy, IsFiniteIfNothingThatMayBeItIsLikely) {
  for (const float far : {200.0F, 1e4F, 1e30F, 1e38F}) {
    const auto found = softmax_cross_entropy_of({1, 4}, {-far, far, -far, -far}, {NAN, 0, NAN, 0});
    EXPECT_FLOAT_EQ(static_cast<float>(found.loss), 2 * far - std::log(2.0F));
    EXPECT_EQ(found.slope, (std::vector<float>{-0.5F, 1, -0.5F, 0})) << far;
  }
  const auto sure = softmax_cross_entropy_of({1, 2}, {-10, 10}, {0, NAN});
  EXPECT_NEAR(sure.loss, std::exp(-20.0), 1e-15) << "no rounding of 1";
}

// Every width, in double: rows are whole vectors and rests of them.
TEST(SoftmaxCrossEntropy, NaNMayBeItInRowsOfEveryWidth) {
  for (std::int64_t width = 1; width < 80; ++width) {
    std::vector<float> x, target;
    for (std::int64_t i = 0; i < width; ++i) {
      x.push_back(3 * std::sin(static_cast<float>(7 * i + width)));
      target.push_back((i + width) % 3 == 0 ? 0 : NAN);
    }
    double all = 0, open = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      all += std::exp(double{x[i]});
      open += std::isnan(target[i]) ? std::exp(double{x[i]}) : 0;
    }
    if (open == 0) continue;
    const auto found = softmax_cross_entropy_of({1, width}, x, target);
    EXPECT_NEAR(found.loss, std::log(all / open), 1e-6) << width;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double p = std::exp(double{x[i]});
      EXPECT_NEAR(double{found.slope[i]}, p / all - (std::isnan(target[i]) ? p / open : 0), 1e-6)
          << i << " of " << width;
    }
  }
}

TEST(SoftmaxCrossEntropy, ARowWithNaNLeavesOthersAlone) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6}, hard = {0, 1, 0, 0, 0, 1};
  const auto both = softmax_cross_entropy_of({2, 3}, x, hard);
  const auto half = softmax_cross_entropy_of({2, 3}, x, {0, 1, 0, NAN, 0, NAN});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(half.slope[i], both.slope[i]) << i;
  EXPECT_NE(half.slope[3], both.slope[3]);
}

TEST(SigmoidCrossEntropy, ByHand) {
  const std::vector<float> x = {0, 2, -3, 100}, t = {1, 0.5, 0, 0};
  double expected = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double p = 1 / (1 + std::exp(-static_cast<double>(x[i])));
    expected -= t[i] * std::log(p) + (1 - t[i]) * std::log(1 - p);
  }
  expected += 100;
  EXPECT_NEAR(loss_of(loss("sigmoid_cross_entropy", {2, 2}), x, t), expected / 4, 1e-5);
  const auto summed = loss("sigmoid_cross_entropy", {2, 2}, {{"reduction", std::string("sum")}});
  EXPECT_NEAR(loss_of(summed, x, t), expected / 2, 1e-5);
}

TEST(MeanSquaredError, ByHand) {
  EXPECT_FLOAT_EQ(loss_of(loss("mse", {2, 2}), {1, 2, 3, 4}, {1, 1, 1, 1}), (0 + 1 + 4 + 9) / 4.0F);
}

TEST(Huber, ByHand) {
  const auto spec = loss("huber", {1, 4}, {{"delta", 2.0}});
  EXPECT_FLOAT_EQ(loss_of(spec, {1, 0, 6, -3}, {0, 0, 1, 0}), (0.5F + 0 + 8 + 4) / 4);
}

// A target that is NaN counts nothing, and nothing is passed back there.
TEST(Losses, UnknownTargetsCountNothing) {
  const Dims dims{1, 9};
  for (const char* type : {"sigmoid_cross_entropy", "mse", "huber"}) {
    std::vector<float> x(9, 0.7F), known(9, 0.7F), half(9, NAN);
    for (std::size_t i = 0; i < 9; ++i) known[i] = half[i] = i % 2 == 0 ? 0.2F : NAN;
    LayerHarness harness(loss(type, dims));
    harness.set_input(0, x);
    harness.set_input(1, half);
    harness.forward();
    harness.backward();
    const float all = loss_of(loss(type, dims), x, std::vector<float>(9, 0.2F));
    EXPECT_FLOAT_EQ(harness.output()[0], all * 5 / 9) << type;
    for (std::size_t i = 0; i < 9; ++i)
      EXPECT_EQ(harness.input_derivative(0)[i] == 0, i % 2 == 1) << type;
  }
}

TEST(Losses, DerivativesAgreeWithDifferences) {
  for (const char* type : {"softmax_cross_entropy", "sigmoid_cross_entropy", "mse", "huber"}) {
    for (const Dims& dims : {Dims{4, 10}, Dims{3, 37}, Dims{2, 3, 4, 5}, Dims{2, 6, 5}})
      expect_gradients(loss(type, dims));
  }
  expect_gradients(loss("sigmoid_cross_entropy", {3, 7}, {{"reduction", std::string("sum")}}));
}

// Every third element is known: to be 0, or to have a part.
TEST(Losses, DerivativesAgreeWithDifferencesIfTargetsAreNaN) {
  for (const float known : {0.0F, 0.02F}) {
    for (const Dims& dims : {Dims{4, 10}, Dims{3, 37}, Dims{2, 3, 4, 5}, Dims{2, 6, 5}}) {
      for (const char* reduction : {"mean", "counted"}) {
        HarnessOptions options;
        for (std::int64_t i = 0; i < dims.elements(); ++i)
          options.target.push_back(i % 3 == 0 ? known : NAN);
        const auto spec =
            loss("softmax_cross_entropy", dims, {{"reduction", std::string(reduction)}});
        expect_gradients(spec, options);
        expect_thread_independent(spec, options);
      }
    }
  }
}

TEST(Losses, DoNotDependOnThreads) {
  for (const char* type : {"softmax_cross_entropy", "sigmoid_cross_entropy", "mse", "huber"})
    expect_thread_independent(loss(type, {64, 1001}));
}

TEST(Losses, Errors) {
  EXPECT_EQ(error_of({"mse", {}, {Dims{2, 3}, Dims{2, 4}}}),
            "input 1 is 2x4, expected 2x3 as input 0");
  EXPECT_EQ(error_of({"softmax_cross_entropy", {}, {Dims{2, 3}}}), "takes 2 inputs, has 1");
  const auto wrong = loss("sigmoid_cross_entropy", {2, 2}, {{"reduction", std::string("none")}});
  expect_refused(wrong, "reduction");
  expect_refused(loss("huber", {2, 2}, {{"delta", 0.0}}), "delta");
}

}  // namespace
}  // namespace moil::test
