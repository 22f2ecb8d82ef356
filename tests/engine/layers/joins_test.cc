// Layers that join, split and pass on tensors: add, multiply, maximum, minimum, concat, multi_out,
// identity, flatten.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/kernels/rows/elementwise.h"
#include "tests/engine/layers/layer_harness.h"

namespace moil::test {
namespace {

using Int = std::int64_t;

TEST(Add, TwoAndThreeInputs) {
  const Dims image{2, 5, 3, 7}, vector{4, 33};
  expect_gradients({"add", {}, {image, image}});
  expect_gradients({"add", {}, {vector, vector, vector}});
  expect_thread_independent({"add", {}, {Dims{3, 40000}, Dims{3, 40000}}});
  LayerHarness partly({"add", {}, {vector, vector}},
                      {.in_place = true, .input_needs_derivative = {false, true}});
  partly.forward();
  partly.backward();
  EXPECT_EQ(partly.input_derivative(1), partly.output_derivative(0));
}

// The graph may hand over terms that are one and the same memory, the output's included.
TEST(AddAll, TermsMayLieOverOneAnother) {
  for (const std::int64_t count : {1, 7, 16, 37}) {
    std::vector<float> a(static_cast<std::size_t>(count), 2.0F);
    const std::vector<const float*> terms = {a.data(), nullptr, a.data(), a.data()};
    add_all(terms, a.data(), 0, count);
    EXPECT_EQ(a, std::vector<float>(static_cast<std::size_t>(count), 6.0F));
  }
}

TEST(Multiply, SameDimsAndOneFactorAChannel) {
  const Dims image{2, 19, 3, 4};
  expect_gradients({"multiply", {}, {image, image}});
  expect_gradients({"multiply", {}, {image, Dims{2, 19}}});
  expect_gradients({"multiply", {}, {image, Dims{2, 19, 1, 1}}});
  expect_gradients({"multiply", {}, {Dims{3, 17}, Dims{3, 17}}});
  for (const bool first : {false, true}) {
    HarnessOptions options;
    options.input_needs_derivative = {first, !first};
    expect_gradients({"multiply", {}, {image, Dims{2, 19}}}, options);
    const auto plan = LayerHarness({"multiply", {}, {image, image}}, options).plan();
    EXPECT_EQ(has(plan.inputs[0], Lifespan::kComputeDerivative), !first);
    EXPECT_EQ(has(plan.inputs[1], Lifespan::kComputeDerivative), first);
  }
  expect_thread_independent({"multiply", {}, {Dims{4, 64, 30, 30}, Dims{4, 64}}});
  expect_batch_independent({"multiply", {}, {image, Dims{2, 19}}});
}

using Numbers = std::vector<float>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Two rows as they come out, and what each gets of derivatives of 2.
struct Chosen {
  Numbers out, first, second;
};

Chosen chosen(const std::string& type, const Numbers& a, const Numbers& b, bool in_place) {
  const Dims row{1, static_cast<Int>(a.size())};
  LayerHarness harness({type, {}, {row, row}}, {.in_place = in_place});
  harness.set_input(0, a);
  harness.set_input(1, b);
  harness.set_output_derivative(0, Numbers(a.size(), 2));
  harness.forward();
  harness.backward();
  return {harness.output(), harness.input_derivative(0), harness.input_derivative(1)};
}

TEST(Extremes, Gradients) {
  for (const char* type : {"maximum", "minimum"}) {
    for (const Dims& dims : {Dims{2, 19, 3, 4}, Dims{3, 17}, Dims{2, 5, 7}}) {
      expect_gradients({type, {}, {dims, dims}});
      for (const bool first : {false, true})
        expect_gradients({type, {}, {dims, dims}}, {.input_needs_derivative = {first, !first}});
      expect_batch_independent({type, {}, {dims, dims}});
    }
    expect_thread_independent({type, {}, {Dims{3, 40000}, Dims{3, 40000}}});
  }
}

// A vector's worth and a rest, so that each of the kernel's ends sees them.
TEST(Extremes, EqualNumbersShareAndNotANumberPasses) {
  Numbers a, b;
  for (int i = 0; i < 21; ++i) {
    a.insert(a.end(), {1, 7, 5, kNan, 3, kNan});
    b.insert(b.end(), {4, -7, 5, 2, kNan, kNan});
  }
  for (const bool in_place : {false, true}) {
    const Chosen larger = chosen("maximum", a, b, in_place),
                 smaller = chosen("minimum", a, b, in_place);
    for (std::size_t i = 0; i < a.size(); i += 6) {
      EXPECT_EQ((Numbers(&larger.out[i], &larger.out[i + 3])), (Numbers{4, 7, 5}));
      EXPECT_EQ((Numbers(&smaller.out[i], &smaller.out[i + 3])), (Numbers{1, -7, 5}));
      EXPECT_EQ((Numbers(&larger.first[i], &larger.first[i + 6])), (Numbers{0, 2, 1, 2, 2, 2}));
      EXPECT_EQ((Numbers(&larger.second[i], &larger.second[i + 6])), (Numbers{2, 0, 1, 2, 2, 2}));
      EXPECT_EQ((Numbers(&smaller.first[i], &smaller.first[i + 6])), (Numbers{2, 0, 1, 2, 2, 2}));
      EXPECT_EQ((Numbers(&smaller.second[i], &smaller.second[i + 6])), (Numbers{0, 2, 1, 2, 2, 2}));
      for (const std::size_t k : {3U, 4U, 5U})
        EXPECT_TRUE(std::isnan(larger.out[i + k]) && std::isnan(smaller.out[i + k])) << k;
    }
  }
}

TEST(Concat, ChannelsFeaturesAndSteps) {
  expect_gradients({"concat", {}, {Dims{2, 5, 3, 4}, Dims{2, 1, 3, 4}, Dims{2, 17, 3, 4}}});
  expect_gradients({"concat", {}, {Dims{3, 4}, Dims{3, 9}}});
  expect_gradients({"concat", {}, {Dims{3, 2, 4}, Dims{3, 5, 4}}},
                   {.input_needs_derivative = {false, true}});
  LayerHarness harness({"concat", {}, {Dims{2, 1}, Dims{2, 2}}});
  harness.set_input(0, {1, 2});
  harness.set_input(1, {3, 4, 5, 6});
  harness.forward();
  EXPECT_EQ(harness.output(), (std::vector<float>{1, 3, 4, 2, 5, 6}));
}

TEST(Concat, OtherAxes) {
  for (const Int axis : {1, 2, 3}) {
    Dims image{2, 3, 4, 5}, more{2, 3, 4, 5};
    if (axis == 1) more = Dims{2, 6, 4, 5};
    if (axis == 2) more = Dims{2, 3, 1, 5};
    if (axis == 3) more = Dims{2, 3, 4, 2};
    expect_gradients({"concat", {{"axis", axis}}, {image, more}});
    expect_gradients({"concat", {{"axis", axis}}, {image, more}, true});
  }
  LayerHarness rows({"concat", {{"axis", Int{2}}}, {Dims{1, 2, 1}, Dims{1, 2, 2}}});
  rows.set_input(0, {1, 2});
  rows.set_input(1, {3, 4, 5, 6});
  rows.forward();
  EXPECT_EQ(rows.output(), (std::vector<float>{1, 3, 4, 2, 5, 6}));
}

TEST(MultiOut, SumsTheDerivatives) {
  const LayerSpec spec{"multi_out", {{"outputs", Int{3}}}, {Dims{2, 21, 2, 3}}};
  expect_gradients(spec);
  expect_thread_independent({"multi_out", {{"outputs", Int{3}}}, {Dims{2, 70000}}});
  EXPECT_EQ(LayerHarness(spec).outputs(), 3U);
}

TEST(Identity, PassesOn) { expect_gradients({"identity", {}, {Dims{2, 21, 2, 3}}}); }

TEST(Flatten, TakesPyTorchsOrder) {
  LayerHarness harness({"flatten", {}, {Dims{1, 2, 2, 2}}});
  harness.set_input(0, {1, 10, 2, 20, 3, 30, 4, 40});  // [H, W, C]
  harness.forward();
  EXPECT_EQ(harness.output(), (std::vector<float>{1, 2, 3, 4, 10, 20, 30, 40}));
  EXPECT_EQ(harness.plan().in_place, InPlace::kNo);
}

TEST(Flatten, GradientsAndSameData) {
  expect_gradients({"flatten", {}, {Dims{2, 5, 3, 7}}});
  expect_gradients({"flatten", {}, {Dims{2, 33, 17, 2}}});
  for (const Dims& dims : {Dims{2, 21, 1, 1}, Dims{2, 1, 5, 3}, Dims{2, 3, 4}, Dims{2, 9}}) {
    const LayerSpec spec{"flatten", {}, {dims}};
    expect_gradients(spec);
    EXPECT_EQ(LayerHarness(spec).plan().in_place, InPlace::kSameData) << dims.to_string();
  }
}

TEST(Joins, Errors) {
  const Dims a{2, 3}, b{2, 4};
  EXPECT_EQ(error_of({"add", {}, {a, b}}), "input 1 is 2x4, expected 2x3 as input 0");
  EXPECT_EQ(error_of({"add", {}, {a}}), "takes at least 2 inputs, has 1");
  EXPECT_EQ(error_of({"multiply", {}, {a, b}}), "input 1 is 2x4, expected 2x3 as input 0");
  EXPECT_EQ(error_of({"maximum", {}, {a, b}}), "input 1 is 2x4, expected 2x3 as input 0");
  expect_refused({"minimum", {}, {a, a, a}}, "2");
  expect_refused({"concat", {}, {a, Dims{3, 3}}}, "in more than axis 1");
  EXPECT_EQ(error_of({"concat", {{"axis", Int{2}}}, {a, a}}),
            "takes tensors with an axis 2, has 2x3");
  expect_refused({"concat", {{"axis", Int{0}}}, {a, a}}, "\"axis\"");
  expect_refused({"multi_out", {}, {a}}, "\"outputs\" is missing");
  expect_refused({"flatten", {}, {Dims{3}}}, "rank 2 or more");
}

}  // namespace
}  // namespace moil::test
