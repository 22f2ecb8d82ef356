// rnn, lstm, gru and their cells; a sequence taken apart and put together.
#include <gtest/gtest.h>

#include "tests/engine/layers/layer_harness.h"

namespace moil::test {
namespace {

using Int = std::int64_t;

Properties units(Int count, Properties more = {}) {
  more["units"] = count;
  return more;
}

std::vector<Dims> with_states(const std::string& type, Dims sequence, Int count) {
  const Dims state{sequence[0], count};
  std::vector<Dims> inputs = {sequence, state};
  if (type.starts_with("lstm")) inputs.push_back(state);
  return inputs;
}

TEST(Recurrent, GradientsAgreeWithDifferences) {
  for (const std::string type : {"rnn", "lstm", "gru"}) {
    SCOPED_TRACE(type);
    for (const bool reverse : {false, true}) {
      for (const bool sequence : {false, true}) {
        const Properties p = units(5, {{"reverse", reverse}, {"sequence", sequence}});
        expect_gradients({type, p, {Dims{3, 4, 2}}});
        Properties state = p;
        state["state"] = true;
        expect_gradients({type, state, with_states(type, Dims{2, 3, 4}, 5)});
      }
    }
    expect_gradients({type, units(3, {{"bias", false}}), {Dims{1, 1, 1}}});
    expect_gradients({type + "_cell", units(5), {Dims{3, 4}}});
    expect_gradients({type + "_cell", units(5), with_states(type, Dims{3, 4}, 5)});
  }
  expect_gradients({"rnn", units(3, {{"nonlinearity", "relu"}}), {Dims{2, 3, 4}}});
}

// CD goes back by itself if no weight is trained; one weight alone may be.
TEST(Recurrent, AnyPartMayTrain) {
  for (const std::string type : {"rnn", "lstm", "gru"}) {
    SCOPED_TRACE(type);
    for (std::size_t trained = 0; trained <= 4; ++trained) {
      HarnessOptions options;
      options.train_weight.assign(4, false);
      if (trained < 4) options.train_weight[trained] = true;
      options.input_needs_derivative = {true, trained % 2 == 0};
      if (type == "lstm") options.input_needs_derivative.push_back(true);
      expect_gradients({type, units(5), with_states(type, Dims{2, 3, 4}, 5)}, options);
      options.input_needs_derivative.assign(options.input_needs_derivative.size(), false);
      if (trained < 4)
        expect_gradients({type, units(5), with_states(type, Dims{2, 3, 4}, 5)}, options);
    }
  }
}

// Steps of padding give zeros and take no derivative; the state behind is that of the last step
// that counts.
TEST(Recurrent, PaddingChangesNothing) {
  for (const std::string type : {"rnn", "lstm", "gru"}) {
    SCOPED_TRACE(type);
    for (const bool reverse : {false, true}) {
      LayerSpec spec{type,
                     units(5, {{"reverse", reverse}, {"state", true}}),
                     {Dims{4, 3, 2}, Dims{4}},
                     false,
                     {3, 1, 0, 2}};
      expect_gradients(spec);
      spec.properties["sequence"] = false;
      expect_gradients(spec);
    }
    auto inputs = with_states(type, Dims{3, 4, 2}, 5);
    inputs.push_back(Dims{3});
    expect_gradients({type, units(5, {{"state", true}}), inputs, false, {4, 0, 2}});
    LayerHarness padded({type, units(5), {Dims{2, 3, 2}, Dims{2}}, false, {3, 1}});
    padded.forward();
    for (std::size_t i = 20; i < 30; ++i) EXPECT_EQ(padded.output()[i], 0) << i;
    EXPECT_NE(padded.output()[15], 0);
  }
}

TEST(Recurrent, WhatDoesNotFitIsRefused) {
  expect_refused({"lstm",
                  units(5, {{"reverse", true}}),
                  {Dims{2, 3, 4}, Dims{2, 5}, Dims{2, 5}, Dims{2}},
                  false,
                  {1, 2}},
                 "nor backward from a state");

  expect_refused({"lstm", {}, {Dims{2, 3, 4}}}, "\"units\"");
  expect_refused({"lstm", units(5), {Dims{2, 4}}}, "takes [N, L, F], not 2x4");
  expect_refused({"lstm_cell", units(5), {Dims{2, 3, 4}}}, "takes [N, F], not 2x3x4");
  expect_refused({"lstm", units(5), {Dims{2, 3, 4}, Dims{2, 5}}}, "2 states or none");
  expect_refused({"gru", units(5), {Dims{2, 3, 4}, Dims{2, 4}}}, "a state is 2x5, not 2x4");
  expect_refused({"rnn", units(5, {{"nonlinearity", "gelu"}}), {Dims{2, 3, 4}}},
                 "\"tanh\" or \"relu\"");
  expect_refused({"gru_cell", units(5, {{"reverse", true}}), {Dims{2, 4}}}, "reverse");
}

TEST(Stack, StepsComeApartAndTogether) {
  LayerHarness apart({"unstack", {}, {Dims{2, 3, 2}}});
  apart.set_input(0, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  apart.forward();
  ASSERT_EQ(apart.outputs(), 3u);
  EXPECT_EQ(apart.output(1), (std::vector<float>{3, 4, 9, 10}));
  LayerHarness together({"stack", {}, {Dims{2, 2}, Dims{2, 2}, Dims{2, 2}}});
  for (std::size_t i = 0; i < 3; ++i) together.set_input(i, apart.output(i));
  together.forward();
  EXPECT_EQ(together.output(), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

TEST(Stack, GradientsAgreeWithDifferences) {
  expect_gradients({"unstack", {}, {Dims{2, 3, 4}}});
  expect_gradients({"unstack", {}, {Dims{2, 1, 4, 3}}, true});
  expect_gradients({"stack", {}, {Dims{2, 4}, Dims{2, 4}}});
  HarnessOptions one;
  one.input_needs_derivative = {false, true};
  expect_gradients({"stack", {}, {Dims{2, 4}, Dims{2, 4}}}, one);
}

TEST(Stack, WhatDoesNotFitIsRefused) {
  expect_refused({"unstack", {}, {Dims{2, 4}}}, "takes [N, L, ...], not 2x4");
  expect_refused({"stack", {}, {Dims{2, 4}, Dims{2, 3}}}, "input 1 is 2x3");
}

}  // namespace
}  // namespace moil::test
