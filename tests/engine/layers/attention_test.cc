// Attention of several heads, and what says where a row of a sequence stands.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/layers/layer_harness.h"
#include "tests/errors.h"

namespace moil::test {
namespace {

using Int = std::int64_t;

LayerSpec heads(Int count, std::vector<Dims> inputs, Properties more = {},
                std::vector<std::int32_t> lengths = {}) {
  more["heads"] = count;
  if (!lengths.empty()) inputs.push_back(Dims{inputs[0][0]});
  return {"multi_head_attention", std::move(more), std::move(inputs), false, std::move(lengths)};
}

// Self attention, cross attention, apart; masks of both kinds; heads one by one and kept.
std::vector<LayerSpec> attentions() {
  std::vector<LayerSpec> specs;
  for (const bool causal : {false, true}) {
    for (const bool one_by_one : {false, true}) {
      const Properties p = {{"causal", causal}, {"head_by_head", one_by_one}};
      specs.push_back(heads(2, {Dims{2, 5, 6}}, p));
      specs.push_back(heads(3, {Dims{3, 4, 9}}, p, {4, 0, 1}));
      specs.push_back(heads(2, {Dims{2, 3, 10}, Dims{2, 7, 10}}, p));
      specs.push_back(heads(1, {Dims{2, 7, 5}, Dims{2, 3, 5}}, p, {2, 3}));
      specs.push_back(heads(3, {Dims{1, 4, 9}, Dims{1, 6, 9}, Dims{1, 6, 9}}, p, {5}));
      specs.push_back(heads(1, {Dims{1, 1, 1}}, p));
    }
  }
  specs.push_back(heads(2, {Dims{2, 5, 6}}, {{"bias", false}}));
  return specs;
}

TEST(MultiHeadAttention, GradientsAgreeWithDifferences) {
  for (const LayerSpec& spec : attentions()) expect_gradients(spec, {.input_range = 1});
}

// Whatever is trained, and whichever input needs a derivative.
TEST(MultiHeadAttention, PartsOfTheGradients) {
  const LayerSpec spec = heads(2, {Dims{2, 3, 4}, Dims{2, 5, 4}}, {}, {5, 3});
  LayerHarness whole(spec, {.input_range = 1});
  whole.forward();
  whole.backward();
  for (unsigned trained = 0; trained < 16; ++trained) {
    for (unsigned needed = 0; needed < 4; ++needed) {
      SCOPED_TRACE(std::to_string(trained) + " " + std::to_string(needed));
      HarnessOptions options{.input_range = 1};
      for (unsigned w = 0; w < 4; ++w) options.train_weight.push_back((trained >> w & 1) != 0);
      options.input_needs_derivative = {(needed & 1) != 0, needed > 1, false};
      LayerHarness part(spec, options);
      part.forward();
      part.backward();
      EXPECT_EQ(part.output(), whole.output());
      for (std::size_t w = 0; w < 4; ++w)
        if (options.train_weight[w]) {
          EXPECT_EQ(part.gradient(w), whole.gradient(w)) << w;
        }
      for (std::size_t i = 0; i < 2; ++i)
        if (options.input_needs_derivative[i]) {
          EXPECT_EQ(part.input_derivative(i), whole.input_derivative(i)) << i;
        }
    }
  }
}

TEST(MultiHeadAttention, HeadByHeadIsAllHeadsAtOnceAndKeepsLess) {
  const auto spec = [](bool one_by_one) {
    return heads(4, {Dims{3, 33, 20}, Dims{3, 17, 20}}, {{"head_by_head", one_by_one}}, {17, 5, 1});
  };
  LayerHarness apart(spec(true)), together(spec(false));
  std::size_t kept[2] = {0, 0};
  for (const auto& s : apart.plan().saved) kept[0] += s.bytes;
  for (const auto& s : together.plan().saved) kept[1] += s.bytes;
  EXPECT_EQ(kept[1] - kept[0], 3 * 4 * 33 * 17 * sizeof(float));
  for (LayerHarness* h : {&apart, &together}) h->forward(), h->backward();
  EXPECT_EQ(apart.output(), together.output());
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(apart.input_derivative(i), together.input_derivative(i));
  for (std::size_t w = 0; w < 4; ++w) EXPECT_EQ(apart.gradient(w), together.gradient(w));
}

TEST(MultiHeadAttention, DependsOnNeitherThreadsNorBatch) {
  for (const LayerSpec& spec : attentions()) {
    expect_thread_independent(spec);
    expect_batch_independent(spec);
  }
  const LayerSpec large = heads(8, {Dims{3, 65, 64}}, {}, {65, 1, 40});
  expect_thread_independent(large);
  expect_batch_independent(large);
}

// What is padding changes nothing, and learns nothing.
TEST(MultiHeadAttention, PaddingIsNotSeen) {
  const std::vector<std::int32_t> lengths = {3, 0};
  const LayerSpec spec = heads(2, {Dims{2, 4, 6}, Dims{2, 5, 6}}, {}, lengths);
  LayerHarness one(spec), other(spec);
  std::vector<float> moved = one.input(1);
  for (std::size_t i = 0; i < moved.size(); ++i)
    if (i % 30 / 6 >= static_cast<std::size_t>(lengths[i / 30])) moved[i] = 1e6F;
  other.set_input(1, moved);
  for (LayerHarness* h : {&one, &other}) h->forward(), h->backward();
  EXPECT_EQ(one.output(), other.output());
  EXPECT_EQ(one.input_derivative(0), other.input_derivative(0));
  for (std::size_t i = 0; i < moved.size(); ++i)
    EXPECT_TRUE(moved[i] != 1e6F || other.input_derivative(1)[i] == 0) << i;
  // A sample without keys gives the bias of what follows.
  const std::vector<float> bias = one.weight(3);
  for (std::size_t i = 24; i < 48; ++i) EXPECT_EQ(one.output()[i], bias[i % 6]);
}

TEST(MultiHeadAttention, CausalRowsDependOnWhatWasBefore) {
  const LayerSpec spec = heads(2, {Dims{1, 6, 4}}, {{"causal", true}});
  LayerHarness one(spec), other(spec);
  std::vector<float> later = one.input(0);
  for (std::size_t i = 12; i < later.size(); ++i) later[i] += 1;
  other.set_input(0, later);
  one.forward(), other.forward();
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(one.output()[i], other.output()[i]) << i;
  EXPECT_NE(one.output()[12], other.output()[12]);
}

TEST(MultiHeadAttention, WhatIsWrongIsRefused) {
  const Dims x{2, 3, 4};
  expect_refused({"multi_head_attention", {}, {x}}, "\"heads\" is missing");
  expect_refused(heads(0, {x}), "\"heads\"");
  EXPECT_EQ(error_of(heads(3, {x})), "cannot part a width of 4 among 3 heads");
  EXPECT_EQ(error_of(heads(2, {Dims{2, 4}})), "takes sequences [N, L, E], has 2x4");
  expect_refused(heads(2, {x, x, x, x}), "has 4 inputs");
  expect_refused(heads(2, {x, Dims{2, 3, 8}}), "has 2x3x4, 2x3x8");
  expect_refused(heads(2, {x, Dims{1, 3, 4}}), "has 2x3x4, 1x3x4");
  expect_refused(heads(2, {x, x, Dims{2, 5, 4}}), "has 2x3x4, 2x3x4 and 2x5x4");
  LayerSpec lengths = heads(2, {x}, {}, {1, 2});
  lengths.inputs.back() = Dims{2, 2};
  lengths.lengths = {1, 2, 3, 3};
  EXPECT_EQ(error_of(lengths), "takes a length a sample, [2], has 2x2");
  for (const std::int32_t wrong : {-1, 4}) {
    LayerHarness harness(heads(2, {x}, {}, {1, wrong}));
    expect_error(ErrorCode::kBadData, "a length of " + std::to_string(wrong),
                 [&] { harness.forward(); });
  }
}

TEST(PositionalEncoding, AddsSinesAndCosines) {
  LayerHarness harness({"positional_encoding", {{"scale", 2.0}}, {Dims{2, 2, 3}}});
  harness.set_input(0, {1, 2, 3, 0, 0, 0, 1, 2, 3, 0, 0, 1});
  harness.forward();
  const float s = std::sin(1.0F), c = std::cos(1.0F);
  const float slow = std::sin(static_cast<float>(std::pow(10000.0, -2.0 / 3)));
  const std::vector<float> expected = {2, 5, 6, s, c, slow, 2, 5, 6, s, c, 2 + slow};
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(harness.output()[i], expected[i], 1e-6F) << i;
}

TEST(PositionalEncoding, GradientsThreadsAndBatches) {
  for (const double scale : {1.0, 3.0}) {
    const LayerSpec spec{"positional_encoding", {{"scale", scale}}, {Dims{3, 70, 192}}};
    expect_gradients({spec.type, spec.properties, {Dims{2, 5, 7}}});
    expect_thread_independent(spec);
    expect_batch_independent(spec);
  }
  EXPECT_EQ(error_of({"positional_encoding", {}, {Dims{2, 4}}}),
            "takes sequences [N, L, E], has 2x4");
}

}  // namespace
}  // namespace moil::test
