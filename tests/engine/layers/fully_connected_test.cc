#include "engine/layers/fully_connected.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/engine/layers/planned_layer.h"

namespace moil {
namespace {

using test::difference;
using test::PlannedLayer;
using ::testing::HasSubstr;

Properties properties(std::int64_t units) { return {{"units", units}}; }

KernelSelector& fixed_selector() {
  static KernelSelector kernels;
  return kernels;
}

PlannedLayer planned(const Dims& input, const Properties& p, bool training, bool weight, bool bias,
                     bool derivative) {
  std::vector<bool> train = {weight};
  if (!p.contains("bias")) train.push_back(bias);
  return {make_fully_connected("fc", p),
          TensorInfo{input},
          training,
          train,
          derivative,
          fixed_selector()};
}

std::vector<double> reference(const PlannedLayer& l, std::int64_t features, std::int64_t units) {
  std::vector<double> y(l.y.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i) / units,
               unit = static_cast<std::int64_t>(i) % units;
    if (l.weights.size() > 1) y[i] = l.weights[1][static_cast<std::size_t>(unit)];
    for (std::int64_t f = 0; f < features; ++f)
      y[i] += static_cast<double>(l.x[static_cast<std::size_t>(row * features + f)]) *
              l.weights[0][static_cast<std::size_t>(unit * features + f)];
  }
  return y;
}

TEST(FullyConnected, VectorsAndSequences) {
  for (const Dims& input : {Dims{1, 7}, Dims{33, 130}, Dims{3, 5, 64}}) {
    for (const bool training : {true, false}) {
      auto l = planned(input, properties(10), training, training, training, training);
      EXPECT_EQ(l.setup.outputs[0].dims.back(), 10);
      EXPECT_EQ(l.setup.outputs[0].dims.rank(), input.rank());
      l.forward();
      EXPECT_LT(difference(l.y, reference(l, input.back(), 10)), 1e-5) << input.to_string();
    }
  }
}

TEST(FullyConnected, WithoutBias) {
  Properties p = properties(6);
  p["bias"] = false;
  auto l = planned(Dims{4, 9}, p, true, true, false, true);
  ASSERT_EQ(l.specs.size(), 1U);
  l.forward();
  EXPECT_LT(difference(l.y, reference(l, 9, 6)), 1e-5);
}

TEST(FullyConnected, GradientsAgreeWithFiniteDifferences) {
  for (const Dims& input : {Dims{5, 17}, Dims{2, 3, 20}}) {
    auto l = planned(input, properties(11), true, true, true, true);
    l.compute_gradient();
    l.compute_derivative();
    EXPECT_LT(finite_difference_error(l, l.x, l.dx), 1e-4);
    EXPECT_LT(finite_difference_error(l, l.weights[0], l.gradients[0]), 1e-4);
    EXPECT_LT(finite_difference_error(l, l.weights[1], l.gradients[1]), 1e-4);
    const auto once = l.gradients;
    l.compute_gradient(/*accumulate=*/true);
    for (std::size_t i = 0; i < once.size(); ++i)
      for (std::size_t k = 0; k < once[i].size(); ++k)
        EXPECT_NEAR(l.gradients[i][k], 2 * once[i][k], 1e-4);
  }
}

TEST(FullyConnected, LifespansNameOnlyWhatIsRead) {
  const auto plan = [](bool weight, bool bias, bool derivative) {
    return planned(Dims{4, 8}, properties(3), true, weight, bias, derivative).plan;
  };
  EXPECT_EQ(plan(true, true, false).inputs[0], Lifespan::kForward | Lifespan::kComputeGradient);
  EXPECT_EQ(plan(false, true, true).inputs[0], Lifespan::kForward);
  EXPECT_EQ(plan(false, true, false).output_derivatives, Lifespan::kComputeGradient);
  EXPECT_EQ(plan(false, false, true).output_derivatives, Lifespan::kComputeDerivative);
}

TEST(FullyConnected, InferenceDoesNotDependOnTheBatch) {
  Properties p = properties(37);
  p["activation"] = std::string("relu");
  auto many = planned(Dims{19, 301}, p, false, false, false, false);
  ASSERT_EQ(many.plan.saved.size(), 1U);
  EXPECT_EQ(many.plan.saved[0].lifespan, Lifespan::kMax);
  many.forward();
  for (const std::size_t row : {0U, 7U, 18U}) {
    auto one = planned(Dims{1, 301}, p, false, false, false, false);
    one.weights = many.weights;
    const auto from = many.x.begin() + static_cast<std::ptrdiff_t>(row * 301);
    std::copy_n(from, 301, one.x.begin());
    one.forward();
    EXPECT_TRUE(std::equal(one.y.begin(), one.y.end(),
                           many.y.begin() + static_cast<std::ptrdiff_t>(row * 37)));
  }
}

TEST(FullyConnected, WhatIsWrongIsRefusedByName) {
  const auto error_of = [](const Properties& p, const Dims& input) -> std::string {
    try {
      (void)make_fully_connected("fc", p)->infer_outputs(std::vector<TensorInfo>{
          {input, input.rank() == 4 ? Layout::kChannelsLast : Layout::kPlain}});
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
      return e.what();
    }
    return "no error";
  };
  EXPECT_THAT(error_of({}, Dims{1, 2}), HasSubstr("\"units\" is missing"));
  EXPECT_THAT(error_of({{"units", std::int64_t{0}}}, Dims{1, 2}), HasSubstr("at least 1"));
  EXPECT_THAT(error_of(properties(3), Dims{1, 2, 3, 4}), HasSubstr("flatten it first"));
  Properties p = properties(3);
  p["unit"] = std::int64_t{3};
  EXPECT_THAT(error_of(p, Dims{1, 2}), HasSubstr("unknown property \"unit\""));
  p = properties(3);
  p["activation"] = std::string("relu");
  EXPECT_THROW((void)planned(Dims{1, 2}, p, true, true, true, false), Error);
}

}  // namespace
}  // namespace moil
