// Layers of sequences: matmul, layer_norm, softmax over rows, fully_connected, parameters.
#include <gtest/gtest.h>

#include "tests/engine/layers/layer_harness.h"

namespace moil::test {
namespace {

using Int = std::int64_t;
using Ints = std::vector<Int>;

TEST(MatMul, MultipliesMatrixByMatrix) {
  LayerHarness harness({"matmul", {}, {Dims{2, 1, 2}, Dims{2, 2, 2}}});
  harness.set_input(0, {1, 2, 3, 4});
  harness.set_input(1, {1, 0, 0, 1, 1, 2, 3, 4});
  harness.forward();
  EXPECT_EQ(harness.output(), (std::vector<float>{1, 2, 15, 22}));
}

TEST(MatMul, GradientsAgreeWithDifferences) {
  const Properties turned = {{"transpose_b", true}};
  expect_gradients({"matmul", {}, {Dims{2, 5, 7}, Dims{2, 7, 3}}});
  expect_gradients({"matmul", turned, {Dims{2, 5, 7}, Dims{2, 3, 7}}});
  expect_gradients({"matmul", {}, {Dims{2, 3, 5, 7}, Dims{2, 3, 7, 4}}, true});
  expect_gradients({"matmul", turned, {Dims{2, 3, 5, 7}, Dims{2, 3, 4, 7}}, true});
  for (const bool first : {false, true}) {
    HarnessOptions options;
    options.input_needs_derivative = {first, !first};
    expect_gradients({"matmul", turned, {Dims{2, 5, 7}, Dims{2, 3, 7}}}, options);
    const auto plan = LayerHarness({"matmul", {}, {Dims{2, 5, 7}, Dims{2, 7, 3}}}, options).plan();
    EXPECT_EQ(has(plan.inputs[0], Lifespan::kComputeDerivative), !first);
    EXPECT_EQ(has(plan.inputs[1], Lifespan::kComputeDerivative), first);
  }
}

TEST(MatMul, DependsOnNeitherThreadsNorBatch) {
  const LayerSpec spec{
      "matmul", {{"transpose_b", true}}, {Dims{3, 3, 65, 64}, Dims{3, 3, 65, 64}}, true};
  expect_thread_independent(spec);
  expect_batch_independent(spec);
}

TEST(LayerNorm, NormalisesRows) {
  LayerHarness harness({"layer_norm", {}, {Dims{2, 4}}});
  harness.set_weight(0, {1, 1, 1, 2});
  harness.set_weight(1, {0, 0, 0, 5});
  harness.set_input(0, {1, 2, 3, 4, 1000001, 1000003, 1000001, 1000003});
  harness.forward();
  const std::vector<float> expected = {-1.341636F, -0.447212F, 0.447212F, 7.683272F, -1, 1, -1, 7};
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(harness.output()[i], expected[i], 2e-5F) << i;
}

TEST(LayerNorm, GradientsAgreeWithDifferences) {
  expect_gradients({"layer_norm", {}, {Dims{3, 10}}});
  expect_gradients({"layer_norm", {{"epsilon", 1e-3}}, {Dims{2, 5, 37}}});
  expect_gradients({"layer_norm",
                    {},
                    {
                        Dims{2, 3, 4, 16},
                    },
                    true});
  for (const bool gamma : {false, true}) {
    HarnessOptions options;
    options.train_weight = {gamma, !gamma};
    expect_gradients({"layer_norm", {}, {Dims{3, 19}}}, options);
  }
}

TEST(LayerNorm, WithoutWeights) {
  const LayerSpec spec{"layer_norm", {{"affine", false}}, {Dims{2, 5, 37}}};
  expect_gradients(spec);
  EXPECT_TRUE(LayerHarness(spec).weight_specs().empty());
}

TEST(LayerNorm, DependsOnNeitherThreadsNorBatch) {
  expect_thread_independent({"layer_norm", {}, {Dims{64, 9, 192}}});
  expect_batch_independent({"layer_norm", {}, {Dims{5, 7, 37}}});
}

TEST(LogSoftmax, IsTheLogarithm) {
  LayerHarness harness({"log_softmax", {}, {Dims{2, 2}}});
  harness.set_input(0, {1000, 1000, -1000, 0});
  harness.forward();
  EXPECT_EQ(harness.output(), (std::vector<float>{-0.693147182F, -0.693147182F, -1000, 0}));
  expect_gradients({"log_softmax", {}, {Dims{3, 10}}});
  expect_gradients({"log_softmax", {}, {Dims{2, 5, 37}}});
  expect_batch_independent({"log_softmax", {}, {Dims{5, 37}}});
}

TEST(Rows, OfRankFour) {
  expect_gradients({"softmax", {}, {Dims{2, 3, 5, 7}}, true});
  expect_gradients({"fully_connected", {{"units", Int{6}}}, {Dims{2, 3, 2, 9}}, true});
  const LayerSpec flat{"flatten", {}, {Dims{2, 3, 2, 9}}, true};
  expect_gradients(flat);
  EXPECT_EQ(LayerHarness(flat).plan().in_place, InPlace::kSameData);
}

TEST(Parameter, IsAddedMultipliedOrPrepended) {
  for (const char* type : {"add_parameter", "multiply_parameter"}) {
    expect_gradients({type, {{"dims", Ints{7}}}, {Dims{3, 5, 7}}});
    expect_gradients({type, {{"dims", Ints{5, 7}}}, {Dims{3, 5, 7}}});
    expect_gradients({type, {{"dims", Ints{17}}}, {Dims{3, 17}}});
    expect_thread_independent({type, {{"dims", Ints{192}}}, {Dims{8, 65, 192}}});
    expect_batch_independent({type, {{"dims", Ints{5, 7}}}, {Dims{3, 5, 7}}});
  }
  expect_gradients({"prepend_parameter", {}, {Dims{3, 4, 7}}});
  expect_gradients({"prepend_parameter", {{"count", Int{2}}}, {Dims{3, 4, 7}}});
  LayerHarness token({"prepend_parameter", {}, {Dims{2, 1, 2}}});
  token.set_weight(0, {8, 9});
  token.set_input(0, {1, 2, 3, 4});
  token.forward();
  EXPECT_EQ(token.output(), (std::vector<float>{8, 9, 1, 2, 8, 9, 3, 4}));
}

TEST(Sequences, Errors) {
  expect_refused({"matmul", {}, {Dims{2, 3, 4}, Dims{2, 3, 4}}}, "matrices that fit");
  expect_refused({"matmul", {}, {Dims{2, 3}, Dims{2, 3}}}, "matrices that fit");
  expect_refused({"matmul", {}, {Dims{2, 3, 4}, Dims{1, 4, 4}}}, "matrices that fit");
  EXPECT_EQ(error_of({"layer_norm", {}, {Dims{2, 3, 4, 4}}}),
            "takes rows [N, ..., F], has 2x3x4x4, an image");
  expect_refused({"layer_norm", {{"epsilon", 0.0}}, {Dims{2, 3}}}, "\"epsilon\"");
  EXPECT_EQ(error_of({"add_parameter", {{"dims", Ints{4}}}, {Dims{2, 3}}}),
            "takes rows that end in 4, has 2x3");
  EXPECT_EQ(error_of({"add_parameter", {{"dims", Ints{2, 3}}}, {Dims{2, 3}}}),
            "takes rows that end in 2x3, has 2x3");
  EXPECT_EQ(error_of({"prepend_parameter", {}, {Dims{2, 3}}}), "takes rows [N, L, F], has 2x3");
}

// Masks and biases of attention: one number of the weight meets all along an axis.
TEST(Parameter, AxesOfOneMeetAllAlongTheInputs) {
  for (const char* type : {"add_parameter", "multiply_parameter"}) {
    expect_gradients({type, {{"dims", Ints{4, 1, 3, 5}}}, {Dims{2, 4, 3, 3, 5}}});
    expect_gradients({type, {{"dims", Ints{2, 1, 3, 1}}}, {Dims{2, 2, 3, 3, 5}}});
    expect_gradients({type, {{"dims", Ints{6, 1}}}, {Dims{3, 6, 8}}});
    expect_gradients({type, {{"dims", Ints{1, 1}}}, {Dims{2, 3, 4}}});
    expect_thread_independent({type, {{"dims", Ints{8, 1, 33}}}, {Dims{4, 8, 16, 33}}, true});
  }
  LayerHarness mask({"add_parameter", {{"dims", Ints{2, 1, 2}}}, {Dims{1, 2, 2, 2}}, true});
  mask.set_weight(0, {10, 20, 30, 40});
  mask.set_input(0, {1, 2, 3, 4, 5, 6, 7, 8});
  mask.forward();
  EXPECT_EQ(mask.output(), (std::vector<float>{11, 22, 13, 24, 35, 46, 37, 48}));
}

TEST(Parameter, MayBeAConstant) {
  const LayerSpec mask{"add_parameter", {{"dims", Ints{3}}, {"trained", false}}, {Dims{2, 3}}};
  EXPECT_FALSE(LayerHarness(mask).weight_specs().at(0).trainable);
  EXPECT_TRUE(LayerHarness({"add_parameter", {{"dims", Ints{3}}}, {Dims{2, 3}}})
                  .weight_specs()
                  .at(0)
                  .trainable);
}

}  // namespace
}  // namespace moil::test
