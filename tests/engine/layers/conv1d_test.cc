#include <gtest/gtest.h>

#include "tests/engine/layers/layer_harness.h"

namespace moil::test {
namespace {

using Int = std::int64_t;
using List = std::vector<Int>;

LayerSpec along(const Dims& input, Int out, Int kernel, Properties more = {}) {
  more["out_channels"] = out;
  more["kernel"] = kernel;
  return {"conv1d", std::move(more), {input}};
}

// Dense, pointwise, depthwise, grouped.
std::vector<LayerSpec> convolutions_along() {
  return {
      along({2, 9, 5}, 7, 3, {{"stride", Int{2}}, {"padding", Int{1}}}),
      along({3, 8, 24}, 10, 1, {{"bias", false}}),
      along({2, 11, 20}, 20, 3, {{"groups", Int{20}}, {"padding", Int{1}}}),
      along({2, 7, 6}, 4, 3, {{"groups", Int{2}}, {"dilation", Int{2}}, {"padding", List{4, 0}}}),
      along({1, 1, 1}, 1, 1)};
}

TEST(Conv1d, IsPlacedAlongTheSequence) {
  LayerHarness harness(along({1, 4, 2}, 1, 2));
  ASSERT_EQ(harness.weight_specs()[0].dims, (Dims{1, 2, 2}));
  EXPECT_EQ(harness.setup().outputs.at(0).dims, (Dims{1, 3, 1}));
  harness.set_weight(0, {1, 10, 100, 1000});  // [O, I, K]
  harness.set_weight(1, {0.5});
  harness.set_input(0, {1, 2, 3, 4, 5, 6, 7, 8});
  harness.forward();
  EXPECT_EQ(harness.output(), (std::vector<float>{4231.5, 6453.5, 8675.5}));
}

TEST(Conv1d, LookingBackAlone) {
  LayerHarness harness(along({1, 3, 1}, 1, 3, {{"padding", List{2, 0}}}));
  harness.set_weight(0, {1, 10, 100});
  harness.set_weight(1, {0});
  harness.set_input(0, {1, 2, 3});
  harness.forward();
  EXPECT_EQ(harness.output(), (std::vector<float>{100, 210, 321}));
}

TEST(Conv1d, GradientsThreadsAndBatches) {
  for (const LayerSpec& spec : convolutions_along()) {
    expect_gradients(spec);
    expect_thread_independent(spec);
    expect_batch_independent(spec);
  }
}

TEST(Conv1d, WhatIsWrongIsRefused) {
  EXPECT_EQ(error_of(along({2, 5}, 3, 3)), "takes sequences [N, L, F], has 2x5");
  expect_refused({"conv1d", {{"kernel", Int{3}}}, {Dims{1, 4, 8}}}, "\"out_channels\" is missing");
  expect_refused({"conv1d", {{"out_channels", Int{3}}}, {Dims{1, 4, 8}}}, "\"kernel\" is missing");
  expect_refused(along({1, 4, 8}, 3, 3, {{"strid", Int{2}}}), "unknown property \"strid\"");
  expect_refused(along({1, 4, 8}, 3, 3, {{"padding", List{1, 2, 3}}}), "padding");
  expect_refused(along({1, 2, 8}, 3, 3), "kernel");
}

}  // namespace
}  // namespace moil::test
