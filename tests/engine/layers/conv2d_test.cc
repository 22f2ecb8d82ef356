#include <gtest/gtest.h>

#include <cmath>

#include "engine/layers/weight_order.h"
#include "tests/engine/device/conv/conv_reference.h"
#include "tests/engine/layers/layer_harness.h"

namespace moil::test {
namespace {

using Int = std::int64_t;
using List = std::vector<Int>;

LayerSpec conv(const Dims& input, Int out, Int kernel, Properties more = {}) {
  more["out_channels"] = out;
  more["kernel"] = kernel;
  return {"conv2d", std::move(more), {input}};
}

// Dense, pointwise, depthwise, grouped.
std::vector<LayerSpec> convolutions() {
  return {
      conv({2, 3, 7, 6}, 5, 3, {{"stride", List{2, 1}}, {"padding", List{0, 1, 1, 2}}}),
      conv({3, 24, 4, 4}, 10, 1, {{"bias", false}}),
      conv({2, 20, 6, 7}, 20, 3,
           {{"groups", Int{20}}, {"padding", Int{1}}, {"dilation", List{1, 2}}}),
      conv({2, 6, 5, 5}, 4, 3, {{"groups", Int{2}}}),
  };
}

TEST(Conv2d, ShapesFollowFromTheProperties) {
  const LayerHarness harness(conv({2, 4, 15, 8}, 8, 3, {{"stride", Int{2}}, {"padding", Int{1}}}));
  const TensorInfo& out = harness.setup().outputs.at(0);
  EXPECT_EQ(out.dims, (Dims{2, 8, 8, 4}));
  EXPECT_EQ(out.layout, Layout::kChannelsLast);
  const auto& weights = harness.weight_specs();
  ASSERT_EQ(weights.size(), 2U);
  EXPECT_EQ(weights[0].dims, (Dims{8, 4, 3, 3}));
  EXPECT_EQ(weights[0].order, WeightOrder::kConvolution);
  EXPECT_EQ(weights[0].fan_in, 36);
  EXPECT_EQ(weights[1].dims, (Dims{8}));
  EXPECT_FALSE(weights[1].decays);
}

TEST(Conv2d, PaddingMayBeOneTwoOrFourNumbers) {
  const auto padded = [](const List& padding) {
    return LayerHarness(conv({1, 1, 8, 8}, 1, 3, {{"padding", padding}})).setup().outputs[0].dims;
  };
  EXPECT_EQ(padded({1, 0}), (Dims{1, 1, 8, 6}));
  EXPECT_EQ(padded({0, 1, 1, 2}), (Dims{1, 1, 7, 9}));  // top, left, bottom, right
}

TEST(Conv2d, WhatIsWrongIsRefusedByName) {
  const Dims image{1, 4, 8, 8};
  expect_refused({"conv2d", {{"kernel", Int{3}}}, {image}}, "\"out_channels\" is missing");
  expect_refused({"conv2d", {{"out_channels", Int{3}}}, {image}}, "\"kernel\" is missing");
  expect_refused(conv(image, 8, 3, {{"strid", Int{2}}}), "unknown property \"strid\"");
  expect_refused(conv(image, 8, 3, {{"padding", List{1, 2, 3}}}), "padding");
  expect_refused(conv(image, 8, 3, {{"activation", std::string("swoosh")}}), "swoosh");
  expect_refused(conv(image, 8, 3, {{"groups", Int{3}}}), "not divisible by groups");
  expect_refused(conv(image, 8, 9), "larger than the padded input");
  expect_refused(conv({1, 4}, 8, 3), "[N, C, H, W], not 1x4");
  // What is fused cannot be trained.
  EXPECT_NE(error_of(conv(image, 8, 3, {{"activation", std::string("relu")}}), true), "");
}

TEST(Conv2d, GradientsAgreeWithDifferences) {
  for (const LayerSpec& spec : convolutions()) expect_gradients(spec);
}

TEST(Conv2d, LifespansNameOnlyWhatIsRead) {
  const auto plan = [](bool weight, bool bias, bool derivative) {
    HarnessOptions options;
    options.train_weight = {weight, bias};
    options.input_needs_derivative = {derivative};
    expect_gradients(convolutions()[0], options);
    return LayerHarness(convolutions()[0], options).plan();
  };
  EXPECT_EQ(plan(true, true, true).inputs[0], Lifespan::kForward | Lifespan::kComputeGradient);
  EXPECT_EQ(plan(true, true, true).output_derivatives,
            Lifespan::kComputeGradient | Lifespan::kComputeDerivative);
  EXPECT_EQ(plan(false, true, true).inputs[0], Lifespan::kForward);
  EXPECT_EQ(plan(false, true, false).output_derivatives, Lifespan::kComputeGradient);
  EXPECT_EQ(plan(false, false, true).output_derivatives, Lifespan::kComputeDerivative);
  EXPECT_TRUE(plan(true, true, true).saved.empty());
}

TEST(Conv2d, InferenceWithPackedWeightsAndActivationIsTheSame) {
  for (LayerSpec spec : convolutions()) {
    LayerHarness train(spec);
    train.forward();
    spec.properties["activation"] = std::string("relu6");
    const std::vector<bool> none(train.weight_specs().size(), false);
    LayerHarness infer(
        spec, {.training = false, .train_weight = none, .input_needs_derivative = {false}});
    for (const SavedSpec& saved : infer.plan().saved) EXPECT_EQ(saved.lifespan, Lifespan::kMax);
    EXPECT_EQ(infer.plan().output_derivatives, Lifespan::kNone);
    infer.forward();
    std::vector<double> expected(train.output().begin(), train.output().end());
    for (double& v : expected) v = std::min(6.0, std::max(0.0, v));
    EXPECT_LT(difference(infer.output(), expected), 1e-5);
  }
}

TEST(WeightOrder, FilesAndMemoryAgreeWithTheReference) {
  for (const LayerSpec& s : convolutions()) {
    const WeightSpec spec = LayerHarness(s).weight_specs()[0];
    ConvShape shape = test::shape(1, s.inputs[0][1], 9, 9, spec.dims[0], spec.dims[2]);
    shape.groups = spec.groups;
    const auto file = random_floats(spec.dims.elements(), 3);
    std::vector<float> memory(file.size()), back(file.size());
    to_memory_order(spec, file.data(), memory.data());
    std::size_t at = 0;
    for (Int o = 0; o < spec.dims[0]; ++o)
      for (Int i = 0; i < spec.dims[1]; ++i)
        for (Int y = 0; y < spec.dims[2]; ++y)
          for (Int x = 0; x < spec.dims[3]; ++x)
            EXPECT_EQ(memory[weight_at(shape, o, i, y, x)], file[at++]);
    to_file_order(spec, memory.data(), back.data());
    EXPECT_EQ(back, file);
  }
}

}  // namespace
}  // namespace moil::test
