#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/engine/layers/layer_harness.h"

namespace moil::test {
namespace {

using List = std::vector<std::int64_t>;
using Int = std::int64_t;

std::vector<Properties> windows() {
  return {{{"kernel", Int{2}}},
          {{"kernel", Int{3}}, {"stride", Int{2}}, {"padding", Int{1}}},
          {{"kernel", Int{3}}, {"stride", Int{1}}},
          {{"kernel", List{3, 2}}, {"stride", List{2, 3}}, {"padding", List{1, 0}}},
          {{"kernel", Int{3}}, {"stride", Int{2}}, {"ceil_mode", true}},
          {{"kernel", Int{2}}, {"stride", Int{3}}, {"padding", Int{1}}, {"ceil_mode", true}},
          {{"kernel", Int{3}}, {"stride", Int{2}}, {"padding", List{0, 0, 1, 1}}}};
}

TEST(MaxPool, GradientsAgreeWithDifferences) {
  for (const auto& properties : windows())
    expect_gradients({"max_pool", properties, {Dims{2, 5, 8, 7}}});
  expect_gradients({"max_pool", windows()[1], {Dims{1, 21, 5, 5}}});
}

TEST(AveragePool, GradientsAgreeWithDifferences) {
  for (auto properties : windows()) {
    expect_gradients({"average_pool", properties, {Dims{2, 5, 8, 7}}});
    properties["count_include_pad"] = false;
    expect_gradients({"average_pool", properties, {Dims{2, 21, 8, 7}}});
  }
}

TEST(MaxPool, KeepsOneByteAnOutputOrTwo) {
  LayerHarness small({"max_pool", {{"kernel", Int{16}}}, {Dims{1, 3, 32, 32}}});
  EXPECT_EQ(small.plan().saved.at(0).bytes, 3U * 2 * 2);
  const LayerSpec large{"max_pool", {{"kernel", Int{17}}}, {Dims{1, 3, 34, 17}}};
  EXPECT_EQ(LayerHarness(large).plan().saved.at(0).bytes, 3U * 2 * 2);
  expect_gradients(large, {.input_range = 20});
  LayerHarness inference({"max_pool", {{"kernel", Int{2}}}, {Dims{1, 3, 4, 4}}},
                         {.training = false, .input_needs_derivative = {false}});
  EXPECT_TRUE(inference.plan().saved.empty());
}

TEST(MaxPool, FirstOfEqualsTakesTheDerivative) {
  LayerHarness harness({"max_pool", {{"kernel", Int{2}}}, {Dims{1, 1, 2, 2}}});
  harness.set_input(0, {1, 3, 3, 3});
  harness.set_output_derivative(0, {5});
  harness.forward();
  harness.backward();
  EXPECT_EQ(harness.output(), std::vector<float>{3});
  EXPECT_EQ(harness.input_derivative(), (std::vector<float>{0, 5, 0, 0}));
}

TEST(MaxPool, NegativeInfinityAndNan) {
  const float inf = std::numeric_limits<float>::infinity();
  LayerHarness harness({"max_pool", {{"kernel", Int{2}}}, {Dims{1, 1, 2, 4}}});
  harness.set_input(0, {-inf, -inf, 1, std::nanf(""), -inf, -inf, 2, 3});
  harness.set_output_derivative(0, {5, 7});
  harness.forward();
  harness.backward();
  EXPECT_EQ(harness.output()[0], -inf);
  EXPECT_TRUE(std::isnan(harness.output()[1]));
  EXPECT_EQ(harness.input_derivative(), (std::vector<float>{5, 0, 0, 7, 0, 0, 0, 0}));
}

TEST(AveragePool, DivisorWithAndWithoutPadding) {
  Properties properties{{"kernel", Int{2}}, {"padding", Int{1}}};
  LayerHarness with({"average_pool", properties, {Dims{1, 1, 2, 2}}});
  with.set_input(0, {1, 2, 3, 4});
  with.forward();
  EXPECT_EQ(with.output(), (std::vector<float>{0.25F, 0.5F, 0.75F, 1}));
  properties["count_include_pad"] = false;
  LayerHarness without({"average_pool", properties, {Dims{1, 1, 2, 2}}});
  without.set_input(0, {1, 2, 3, 4});
  without.forward();
  EXPECT_EQ(without.output(), (std::vector<float>{1, 2, 3, 4}));
}

TEST(GlobalAveragePool, GradientsAndShapes) {
  const LayerSpec spec{"global_average_pool", {}, {Dims{3, 21, 4, 5}}};
  expect_gradients(spec);
  EXPECT_EQ(LayerHarness(spec).setup().outputs[0].dims, (Dims{3, 21}));
  const LayerSpec kept{"global_average_pool", {{"keep_dims", true}}, {Dims{3, 21, 4, 5}}};
  expect_gradients(kept);
  EXPECT_EQ(LayerHarness(kept).setup().outputs[0].dims, (Dims{3, 21, 1, 1}));
}

TEST(Pooling, DependsOnNeitherThreadsNorBatch) {
  for (const char* type : {"max_pool", "average_pool"}) {
    expect_thread_independent({type, windows()[1], {Dims{3, 21, 30, 31}}});
    expect_batch_independent({type, windows()[1], {Dims{3, 21, 10, 11}}});
  }
  expect_thread_independent({"global_average_pool", {}, {Dims{5, 70, 30, 31}}});
  expect_batch_independent({"global_average_pool", {}, {Dims{5, 70, 9, 9}}});
}

TEST(Pooling, Errors) {
  expect_refused({"max_pool", {}, {Dims{1, 1, 4, 4}}}, "\"kernel\" is missing");
  expect_refused({"max_pool", {{"kernel", Int{2}}, {"padding", Int{2}}}, {Dims{1, 1, 4, 4}}},
                 "half the kernel");
  expect_refused({"average_pool", {{"kernel", Int{5}}}, {Dims{1, 1, 4, 4}}},
                 "does not fit into the padded image of 1x1x4x4");
  expect_refused({"global_average_pool", {}, {Dims{1, 4}}}, "takes images");
  expect_refused({"max_pool", {{"kernel", Int{300}}}, {Dims{1, 1, 400, 400}}}, "255");
}

TEST(MaxPool, WindowsWithGaps) {
  LayerHarness harness({"max_pool",
                        {{"kernel", Int{2}}, {"stride", Int{1}}, {"dilation", Int{2}}},
                        {Dims{1, 1, 3, 3}}});
  harness.set_input(0, {1, 9, 2, 9, 9, 9, 3, 9, 4});
  harness.set_output_derivative(0, {5});
  harness.forward();
  harness.backward();
  EXPECT_EQ(harness.output(), std::vector<float>{4});
  EXPECT_EQ(harness.input_derivative(), (std::vector<float>{0, 0, 0, 0, 0, 0, 0, 0, 5}));
  for (const Properties& gaps :
       {Properties{{"kernel", Int{3}}, {"stride", Int{1}}, {"dilation", Int{2}}},
        Properties{{"kernel", Int{2}}, {"padding", Int{1}}, {"dilation", List{3, 1}}},
        Properties{{"kernel", List{3, 2}},
                   {"stride", List{1, 3}},
                   {"padding", List{2, 1}},
                   {"dilation", List{2, 3}},
                   {"ceil_mode", true}}})
    expect_gradients({"max_pool", gaps, {Dims{2, 5, 10, 12}}});
  expect_refused({"average_pool", {{"kernel", Int{2}}, {"dilation", Int{2}}}, {Dims{1, 1, 4, 4}}},
                 "dilation");
}

}  // namespace
}  // namespace moil::test
