#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/layers/layer_harness.h"
#include "tests/errors.h"

namespace moil::test {
namespace {

using Int = std::int64_t;

// The query's width 5, the memory's 6, 4 that are compared; `length` positions.
LayerSpec looking(Int batch, Int length, std::vector<std::int32_t> lengths = {}) {
  LayerSpec spec{"location_attention",
                 {{"filters", Int{3}}, {"kernel", Int{5}}},
                 {Dims{batch, 5}, Dims{batch, length, 6}, Dims{batch, length, 4},
                  Dims{batch, length}, Dims{batch, length}}};
  if (!lengths.empty()) spec.inputs.push_back(Dims{batch});
  spec.lengths = std::move(lengths);
  return spec;
}

std::vector<LayerSpec> lookings() {
  return {looking(2, 7), looking(3, 9, {9, 0, 4}), looking(1, 1), looking(2, 3, {1, 3})};
}

TEST(LocationAttention, GradientsAgreeWithDifferences) {
  for (const LayerSpec& spec : lookings()) expect_gradients(spec, {.input_range = 1});
}

TEST(LocationAttention, PartsOfTheGradients) {
  const LayerSpec spec = looking(2, 6, {6, 4});
  LayerHarness whole(spec);
  whole.forward();
  whole.backward();
  for (unsigned trained = 0; trained < 16; ++trained) {
    for (unsigned needed = 0; needed < 32; ++needed) {
      SCOPED_TRACE(std::to_string(trained) + " " + std::to_string(needed));
      HarnessOptions options;
      for (unsigned w = 0; w < 4; ++w) options.train_weight.push_back((trained >> w & 1) != 0);
      for (unsigned i = 0; i < 5; ++i)
        options.input_needs_derivative.push_back((needed >> i & 1) != 0);
      options.input_needs_derivative.push_back(false);
      LayerHarness part(spec, options);
      part.forward();
      part.backward();
      EXPECT_EQ(part.output(1), whole.output(1));
      for (std::size_t w = 0; w < 4; ++w)
        EXPECT_TRUE(!options.train_weight[w] || part.gradient(w) == whole.gradient(w)) << w;
      for (std::size_t i = 0; i < 5; ++i)
        EXPECT_TRUE(!options.input_needs_derivative[i] ||
                    part.input_derivative(i) == whole.input_derivative(i))
            << i;
    }
  }
}

TEST(LocationAttention, DependsOnNeitherThreadsNorBatch) {
  for (LayerSpec spec : lookings()) {
    expect_thread_independent(spec);
    expect_batch_independent(spec);
  }
  LayerSpec large = looking(5, 70, {70, 1, 33, 70, 2});
  large.inputs[2] = Dims{5, 70, 128};
  large.properties = {};
  expect_thread_independent(large);
  expect_batch_independent(large);
}

TEST(LocationAttention, WeightsAreOfThePositionsThatCount) {
  LayerHarness harness(looking(3, 9, {9, 0, 4}));
  harness.forward();
  const std::vector<float>& weights = harness.output(1);
  for (std::size_t n = 0; n < 3; ++n) {
    const std::size_t seen = n == 0 ? 9 : n == 1 ? 0 : 4;
    float sum = 0;
    for (std::size_t l = 0; l < 9; ++l) {
      sum += weights[n * 9 + l];
      EXPECT_EQ(weights[n * 9 + l] > 0, l < seen) << n << " " << l;
    }
    EXPECT_NEAR(sum, seen > 0 ? 1 : 0, 1e-6);
  }
  for (std::size_t e = 6; e < 12; ++e) EXPECT_EQ(harness.output(0)[e], 0);
}

TEST(LocationAttention, WhatIsWrongIsRefused) {
  LayerSpec spec = looking(2, 7);
  spec.properties["kernel"] = Int{4};
  expect_refused(spec, "\"kernel\" must be odd");
  for (std::size_t i = 0; i < 5; ++i) {
    LayerSpec wrong = looking(2, 7);
    wrong.inputs[i] = Dims{3, 7};
    expect_refused(wrong, "takes [N, Q], [N, L, E], [N, L, A], [N, L] and [N, L], has ");
  }
  LayerSpec few = looking(2, 7);
  few.inputs.pop_back();
  expect_refused(few, "takes 5 inputs, has 4");
  LayerHarness harness(looking(2, 7, {7, 8}));
  expect_error(ErrorCode::kBadData, "a length of 8", [&] { harness.forward(); });
}

}  // namespace
}  // namespace moil::test
