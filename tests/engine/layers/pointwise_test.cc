// scale, clip, reciprocal, exp, log, power and prelu.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/engine/layers/layer_harness.h"

namespace moil::test {
namespace {

std::vector<float> pointwise_output(const LayerSpec& spec, const std::vector<float>& input) {
  LayerHarness harness(spec);
  harness.set_input(0, input);
  harness.forward();
  return harness.output();
}

TEST(Scale, MultipliesAndAdds) {
  EXPECT_EQ(pointwise_output({"scale", {{"factor", 2.0}, {"offset", -1.0}}, {Dims{1, 2}}}, {1, 5}),
            (std::vector<float>{1, 9}));
  expect_gradients({"scale", {{"factor", -0.7}, {"offset", 3.0}}, {Dims{2, 5, 3, 3}}});
  expect_batch_independent({"scale", {{"factor", -0.7}}, {Dims{3, 21}}});
}

TEST(Clip, KeepsBetweenItsLimits) {
  EXPECT_EQ(pointwise_output({"clip", {{"min", -1.0}, {"max", 2.0}}, {Dims{1, 3}}}, {-5, 1, 5}),
            (std::vector<float>{-1, 1, 2}));
  EXPECT_EQ(pointwise_output({"clip", {{"min", -1.0}}, {Dims{1, 3}}}, {-5, 1, 5}),
            (std::vector<float>{-1, 1, 5}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(pointwise_output({"clip", {{"min", 0.0}}, {Dims{1, 1}}}, {nan})[0]));
  expect_gradients({"clip", {{"min", -1.027}, {"max", 0.4865}}, {Dims{2, 37}}});
  expect_thread_independent({"clip", {{"max", 0.5}}, {Dims{3, 50000}}});
  expect_refused({"clip", {{"min", 1.0}, {"max", 0.0}}, {Dims{1, 2}}}, "\"min\"");
}

TEST(Reciprocal, IsOneByX) {
  EXPECT_EQ(pointwise_output({"reciprocal", {}, {Dims{1, 2}}}, {-4, 0.5F}),
            (std::vector<float>{-0.25F, 2}));
  LayerHarness harness({"reciprocal", {}, {Dims{1, 2}}}, {.in_place = true});
  harness.set_input(0, {2, -0.5F});
  harness.set_output_derivative(0, {1, 3});
  harness.forward();
  harness.backward();
  EXPECT_EQ(harness.input_derivative(), (std::vector<float>{-0.25F, -12}));
}

TEST(Exponential, AndLogarithmAreInverse) {
  const std::vector<float> numbers = {0.25F, 1, 3};
  const auto logs = pointwise_output({"log", {}, {Dims{1, 3}}}, numbers);
  const auto back = pointwise_output({"exp", {}, {Dims{1, 3}}}, logs);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_FLOAT_EQ(logs[i], std::log(numbers[i]));
    EXPECT_FLOAT_EQ(back[i], numbers[i]);
  }
  EXPECT_EQ(pointwise_output({"log", {}, {Dims{1, 1}}}, {0})[0],
            -std::numeric_limits<float>::infinity());
  expect_gradients({"exp", {}, {Dims{2, 5, 3, 3}}});
  expect_batch_independent({"exp", {}, {Dims{3, 21}}});
}

TEST(Power, OfAnyExponent) {
  EXPECT_EQ(pointwise_output({"power", {}, {Dims{1, 2}}}, {-3, 0.5F}),
            (std::vector<float>{9, 0.25F}));
  EXPECT_EQ(pointwise_output({"power", {{"exponent", 0.5}}, {Dims{1, 3}}}, {0, 4, 9}),
            (std::vector<float>{0, 2, 3}));
  EXPECT_EQ(pointwise_output({"power", {{"exponent", -1.0}}, {Dims{1, 2}}}, {4, -2}),
            (std::vector<float>{0.25F, -0.5F}));
  EXPECT_TRUE(std::isnan(pointwise_output({"power", {{"exponent", 0.3}}, {Dims{1, 1}}}, {-1})[0]));
  expect_gradients({"power", {}, {Dims{2, 37}}});
  expect_gradients({"power", {{"exponent", 3.0}}, {Dims{2, 5, 3, 3}}});
  expect_thread_independent({"power", {}, {Dims{3, 50000}}});
}

TEST(Prelu, OneSlopeAChannelOrForAll) {
  LayerHarness harness({"prelu", {}, {Dims{2, 2}}});
  harness.set_weight(0, {0.5F, -2});
  harness.set_input(0, {-2, -3, 4, 5});
  harness.forward();
  EXPECT_EQ(harness.output(), (std::vector<float>{-1, 6, 4, 5}));
  const Properties shared = {{"shared", true}};
  expect_gradients({"prelu", {}, {Dims{4, 19}}});
  expect_gradients({"prelu", {}, {Dims{2, 5, 4, 3}}});
  expect_gradients({"prelu", shared, {Dims{2, 5, 4, 3}}});
  EXPECT_EQ(LayerHarness({"prelu", shared, {Dims{2, 5, 4, 3}}}).weight_specs()[0].dims, Dims{1});
  expect_thread_independent({"prelu", {}, {Dims{8, 33, 20, 20}}});
  expect_batch_independent({"prelu", shared, {Dims{4, 21}}});
}

}  // namespace
}  // namespace moil::test
