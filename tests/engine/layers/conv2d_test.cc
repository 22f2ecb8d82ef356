#include "engine/layers/conv2d.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/engine/layers/planned_layer.h"

namespace moil {
namespace {

using test::ConvReference;
using test::difference;
using test::PlannedLayer;
using ::testing::HasSubstr;
using List = std::vector<std::int64_t>;

TensorInfo image(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
  return {Dims{n, c, h, w}, Layout::kChannelsLast};
}

Properties properties(std::int64_t out, std::int64_t kernel) {
  return {{"out_channels", out}, {"kernel", kernel}};
}

KernelSelector& selector() {
  static KernelSelector kernels([] {
    KernelSelector::Options options;
    options.measure = false;
    return options;
  }());
  return kernels;
}

std::string error_of(const Properties& p, const TensorInfo& input = image(1, 4, 8, 8)) {
  try {
    (void)make_conv2d("conv", p)->infer_outputs(std::vector<TensorInfo>{input});
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    return e.what();
  }
  return "no error";
}

TEST(Conv2d, ShapesFollowFromTheProperties) {
  Properties p = properties(8, 3);
  p["stride"] = std::int64_t{2};
  p["padding"] = std::int64_t{1};
  const auto conv = make_conv2d("conv", p);
  const std::vector<TensorInfo> in = {image(2, 4, 15, 8)};
  const auto out = conv->infer_outputs(in);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].dims, (Dims{2, 8, 8, 4}));
  EXPECT_EQ(out[0].layout, Layout::kChannelsLast);
  const auto weights = conv->weights(in);
  ASSERT_EQ(weights.size(), 2U);
  EXPECT_EQ(weights[0].dims, (Dims{8, 4, 3, 3}));
  EXPECT_EQ(weights[0].order, WeightOrder::kConvolution);
  EXPECT_EQ(weights[0].fan_in, 36);
  EXPECT_EQ(weights[1].dims, (Dims{8}));
  EXPECT_FALSE(weights[1].decays);
}

TEST(Conv2d, PaddingMayBeOneTwoOrFourNumbers) {
  Properties p = properties(1, 3);
  const std::vector<TensorInfo> in = {image(1, 1, 8, 8)};
  p["padding"] = List{1, 0};
  EXPECT_EQ(make_conv2d("c", p)->infer_outputs(in)[0].dims, (Dims{1, 1, 8, 6}));
  p["padding"] = List{0, 1, 1, 2};  // top, left, bottom, right
  EXPECT_EQ(make_conv2d("c", p)->infer_outputs(in)[0].dims, (Dims{1, 1, 7, 9}));
}

TEST(Conv2d, WhatIsWrongIsRefusedByName) {
  EXPECT_THAT(error_of({{"kernel", std::int64_t{3}}}), HasSubstr("\"out_channels\" is missing"));
  EXPECT_THAT(error_of({{"out_channels", std::int64_t{3}}}), HasSubstr("\"kernel\" is missing"));
  Properties p = properties(8, 3);
  p["strid"] = std::int64_t{2};
  EXPECT_THAT(error_of(p), HasSubstr("unknown property \"strid\""));
  p = properties(8, 3);
  p["padding"] = List{1, 2, 3};
  EXPECT_THAT(error_of(p), HasSubstr("padding"));
  p = properties(8, 3);
  p["activation"] = std::string("swoosh");
  EXPECT_THAT(error_of(p), HasSubstr("swoosh"));
  p = properties(8, 3);
  p["groups"] = std::int64_t{3};
  EXPECT_THAT(error_of(p), HasSubstr("not divisible by groups"));
  EXPECT_THAT(error_of(properties(8, 9)), HasSubstr("larger than the padded input"));
  EXPECT_THAT(error_of(properties(8, 3), {Dims{1, 4}}), HasSubstr("[N, C, H, W], not 1x4"));
}

struct ConvSetting {
  const char* name;
  TensorInfo input;
  Properties p;
};
std::vector<ConvSetting> shapes() {
  std::vector<ConvSetting> list = {{"dense", image(2, 3, 7, 6), properties(5, 3)},
                                   {"pointwise", image(3, 24, 4, 4), properties(10, 1)},
                                   {"depthwise", image(2, 20, 6, 7), properties(20, 3)},
                                   {"grouped", image(2, 6, 5, 5), properties(4, 3)}};
  list[0].p["stride"] = List{2, 1};
  list[0].p["padding"] = List{0, 1, 1, 2};
  list[1].p["bias"] = false;
  list[2].p["groups"] = std::int64_t{20};
  list[2].p["padding"] = std::int64_t{1};
  list[2].p["dilation"] = List{1, 2};
  list[3].p["groups"] = std::int64_t{2};
  return list;
}

TEST(Conv2d, GradientsAgreeWithFiniteDifferences) {
  for (ConvSetting& s : shapes()) {
    const std::size_t count = s.p.contains("bias") ? 1 : 2;
    PlannedLayer l(make_conv2d(s.name, s.p), s.input, true, std::vector<bool>(count, true), true,
                   selector());
    l.compute_gradient();
    l.compute_derivative();
    EXPECT_LT(finite_difference_error(l, l.x, l.dx), 1e-4) << s.name;
    for (std::size_t i = 0; i < count; ++i)
      EXPECT_LT(finite_difference_error(l, l.weights[i], l.gradients[i]), 1e-4) << s.name << i;
  }
}

TEST(Conv2d, GradientsAccumulateOnRequest) {
  const ConvSetting s = shapes()[0];
  PlannedLayer l(make_conv2d(s.name, s.p), s.input, true, {true, true}, false, selector());
  l.compute_gradient();
  const auto once = l.gradients;
  l.compute_gradient(/*accumulate=*/true);
  for (std::size_t i = 0; i < once.size(); ++i)
    for (std::size_t k = 0; k < once[i].size(); ++k)
      EXPECT_NEAR(l.gradients[i][k], 2 * once[i][k], 1e-4);
}

TEST(Conv2d, LifespansNameOnlyWhatIsRead) {
  const ConvSetting s = shapes()[0];
  const auto plan = [&](bool weight, bool bias, bool derivative) {
    return PlannedLayer(make_conv2d(s.name, s.p), s.input, true, {weight, bias}, derivative,
                        selector())
        .plan;
  };
  EXPECT_EQ(plan(true, true, true).inputs[0], Lifespan::kForward | Lifespan::kComputeGradient);
  EXPECT_EQ(plan(true, true, true).output_derivatives,
            Lifespan::kComputeGradient | Lifespan::kComputeDerivative);
  EXPECT_EQ(plan(false, true, true).inputs[0], Lifespan::kForward);
  EXPECT_EQ(plan(false, true, false).output_derivatives, Lifespan::kComputeGradient);
  EXPECT_EQ(plan(false, false, true).output_derivatives, Lifespan::kComputeDerivative);
  EXPECT_TRUE(plan(true, true, true).saved.empty());
}

TEST(Conv2d, TheBiasAloneNeedsNoInput) {
  const ConvSetting s = shapes()[0];
  PlannedLayer all(make_conv2d(s.name, s.p), s.input, true, {true, true}, false, selector());
  all.compute_gradient();
  PlannedLayer bias(make_conv2d(s.name, s.p), s.input, true, {false, true}, false, selector());
  std::fill(bias.x.begin(), bias.x.end(), NAN);
  bias.compute_gradient();
  EXPECT_EQ(bias.gradients[1], all.gradients[1]);
}

TEST(Conv2d, InferenceWithPackedWeightsAndActivationIsTheSame) {
  for (ConvSetting& s : shapes()) {
    const std::size_t count = s.p.contains("bias") ? 1 : 2;
    PlannedLayer train(make_conv2d(s.name, s.p), s.input, true, std::vector<bool>(count, true),
                       true, selector());
    train.forward();
    s.p["activation"] = std::string("relu6");
    PlannedLayer infer(make_conv2d(s.name, s.p), s.input, false, std::vector<bool>(count, false),
                       false, selector());
    for (const SavedSpec& saved : infer.plan.saved) EXPECT_EQ(saved.lifespan, Lifespan::kMax);
    EXPECT_EQ(infer.plan.output_derivatives, Lifespan::kNone);
    infer.forward();
    std::vector<double> expected(train.y.begin(), train.y.end());
    for (double& v : expected) v = std::min(6.0, std::max(0.0, v));
    EXPECT_LT(difference(infer.y, expected), 1e-5) << s.name;
  }
}

TEST(Conv2d, AFusedActivationCannotBeTrained) {
  Properties p = properties(8, 3);
  p["activation"] = std::string("relu");
  EXPECT_THROW(
      PlannedLayer(make_conv2d("c", p), image(1, 4, 8, 8), true, {true, true}, false, selector()),
      Error);
}

TEST(WeightOrder, FilesAndMemoryAgreeWithTheReference) {
  for (const ConvSetting& s : shapes()) {
    const auto conv = make_conv2d(s.name, s.p);
    const std::vector<TensorInfo> in = {s.input};
    const WeightSpec spec = conv->weights(in)[0];
    ConvShape shape = test::shape(1, s.input.dims[1], 9, 9, spec.dims[0], spec.dims[2]);
    shape.groups = spec.groups;
    const auto file = test::random_floats(spec.dims.elements(), 3);
    std::vector<float> memory(file.size()), back(file.size());
    to_memory_order(spec, file.data(), memory.data());
    std::size_t at = 0;
    for (std::int64_t o = 0; o < spec.dims[0]; ++o)
      for (std::int64_t i = 0; i < spec.dims[1]; ++i)
        for (std::int64_t y = 0; y < spec.dims[2]; ++y)
          for (std::int64_t x = 0; x < spec.dims[3]; ++x)
            EXPECT_EQ(memory[test::weight_at(shape, o, i, y, x)], file[at++]) << s.name;
    to_file_order(spec, memory.data(), back.data());
    EXPECT_EQ(back, file);
  }
}

}  // namespace
}  // namespace moil
