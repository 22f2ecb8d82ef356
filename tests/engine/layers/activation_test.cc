#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/kernels/activation_formula.h"
#include "tests/engine/layers/layer_harness.h"

namespace moil::test {
namespace {

class Activation : public ::testing::TestWithParam<ActivationKind> {
 protected:
  std::string type() const { return std::string(to_string(GetParam())); }
};

TEST_P(Activation, ComputesItsFunctionFarAndNear) {
  LayerHarness harness({type(), {}, {Dims{7, 5, 11, 13}}}, {.input_range = 100});
  auto values = harness.input(0);
  for (std::size_t i = 0; i < values.size() / 2; ++i) values[i] /= 15;
  harness.set_input(0, values);
  harness.forward();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double slope = GetParam() == ActivationKind::kElu ? 1 : 0.01;
    const double expected = activation_formula(GetParam(), slope, values[i]);
    ASSERT_NEAR(harness.output()[i], expected, 2e-6 * (1 + std::abs(expected))) << values[i];
  }
}

TEST_P(Activation, DerivativeAgreesWithDifferences) {
  expect_gradients({type(), {}, {Dims{3, 7, 5, 2}}}, {.input_range = 4});
  expect_gradients({type(), {}, {Dims{5, 33}}}, {.input_range = 8});
}

TEST_P(Activation, DependsOnNeitherThreadsNorBatch) {
  expect_thread_independent({type(), {}, {Dims{3, 50000}}});
  expect_batch_independent({type(), {}, {Dims{5, 3, 3, 3}}});
}

TEST_P(Activation, KeepsWhatItsDerivativeReads) {
  LayerHarness harness({type(), {}, {Dims{2, 3}}});
  const bool output = derivative_from_output(GetParam());
  EXPECT_EQ(has(harness.plan().outputs[0], Lifespan::kComputeDerivative), output);
  EXPECT_EQ(has(harness.plan().inputs[0], Lifespan::kComputeDerivative), !output);
}

INSTANTIATE_TEST_SUITE_P(All, Activation, ::testing::ValuesIn(kActivationKinds),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST(LeakyRelu, TakesASlope) {
  expect_gradients({"leaky_relu", {{"slope", 0.3}}, {Dims{5, 33}}});
  expect_gradients({"leaky_relu", {{"slope", 0.0}}, {Dims{5, 33}}});
  expect_refused({"leaky_relu", {{"slope", -0.1}}, {Dims{5, 3}}}, "slope");
}

TEST(Elu, TakesAnAlpha) {
  expect_gradients({"elu", {{"alpha", 0.3}}, {Dims{5, 33}}});
  expect_gradients({"elu", {{"alpha", 1.6}}, {Dims{5, 33}}});
  expect_refused({"elu", {{"alpha", -0.1}}, {Dims{5, 3}}}, "\"alpha\"");
}

TEST(ActivationErrors, WrongNumberOfInputsAndUnknownProperty) {
  EXPECT_EQ(error_of({"relu", {}, {Dims{1, 2}, Dims{1, 2}}}), "takes 1 input, has 2");
  expect_refused({"relu", {{"slope", 0.1}}, {Dims{1, 2}}}, "\"slope\"");
}

}  // namespace
}  // namespace moil::test
