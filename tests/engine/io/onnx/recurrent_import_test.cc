// LSTM, GRU and RNN nodes, and what they are refused with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/io/onnx/exported.h"

namespace moil::onnx {
namespace {

using ::testing::HasSubstr;

// A sequence of 7 steps of 3 numbers, the steps first; a layer of 2 units.
class Steps : public Builder {
 public:
  explicit Steps(const std::string& op, std::int64_t directions = 1)
      : op_(op), directions_(directions) {
    graph.inputs = {{"image", {-1, 7, 3}, true}};
    add("Transpose", {}, {{"perm", Ints{1, 0, 2}}});
    const std::int64_t gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
    weights = {numbered("W", {directions, gates * 2, 3}), numbered("R", {directions, gates * 2, 2}),
               numbered("B", {directions, 2 * gates * 2})};
    attributes = {{"hidden_size", std::int64_t{2}}};
    if (op == "GRU") attributes["linear_before_reset"] = std::int64_t{1};
    if (directions == 2) attributes["direction"] = std::string("bidirectional");
  }
  // Back to [N, L, directions * 2].
  Steps& done() {
    add(op_, weights, attributes);
    if (directions_ == 1) {
      add("Squeeze", {ints("axis", {1})});
      add("Transpose", {}, {{"perm", Ints{1, 0, 2}}});
    } else {
      add("Transpose", {}, {{"perm", Ints{2, 0, 1, 3}}});
      add("Reshape", {ints("shape", {0, 7, 4})});
    }
    return *this;
  }
  std::string refused() { return done().refusal(); }

  std::vector<std::string> weights;
  std::map<std::string, Attribute> attributes;

 private:
  std::string numbered(const std::string& name, const Ints& dims) {
    floats(name, dims);
    float next = 0;
    for (float& v : graph.constants[name].floats) v = next += 1;
    return name;
  }
  const std::string op_;
  const std::int64_t directions_;
};

TEST(RecurrentImport, EveryKindIsALayerADirection) {
  EXPECT_EQ(types_of_fixed(Steps("LSTM").done().import()), Types{"lstm"});
  EXPECT_EQ(types_of_fixed(Steps("GRU").done().import()), Types{"gru"});
  EXPECT_EQ(types_of_fixed(Steps("RNN").done().import()), Types{"rnn"});
  EXPECT_EQ(types_of_fixed(Steps("LSTM", 2).done().import()), (Types{"lstm", "lstm", "concat"}));
}

TEST(RecurrentImport, GatesAreInTheLayersOrder) {
  const WeightMap lstm = Steps("LSTM").done().import().weights;
  // Input, forget, cell, output; the file has input, output, forget, cell, of two rows of 3 each.
  const auto& w = lstm.begin()->second;
  for (const auto& [name, weight] : lstm) {
    if (!name.ends_with("weight_ih")) continue;
    EXPECT_EQ(weight.dims, (Ints{8, 3}));
    EXPECT_EQ(weight.data[0], 1);
    EXPECT_EQ(weight.data[6], 13);
    EXPECT_EQ(weight.data[12], 19);
    EXPECT_EQ(weight.data[18], 7);
  }
  EXPECT_EQ(lstm.size(), 4u) << w.data.size();
  for (const auto& [name, weight] : Steps("GRU").done().import().weights)
    if (name.ends_with("bias_hh")) {
      EXPECT_EQ(weight.data, (std::vector<float>{9, 10, 7, 8, 11, 12}));
    }
}

TEST(RecurrentImport, ReluAndReverseAreProperties) {
  Steps b("RNN");
  b.attributes["activations"] = std::vector<std::string>{"Relu"};
  b.attributes["direction"] = std::string("reverse");
  const ImportedModel model = b.done().import();
  expect_fixed(model);
  EXPECT_EQ(std::get<std::string>(model.description.layers[0].properties.at("nonlinearity")),
            "relu");
  EXPECT_TRUE(std::get<bool>(model.description.layers[0].properties.at("reverse")));
}

TEST(RecurrentImport, WhatIsNotSupportedIsNamed) {
  const auto with = [](const std::string& op, const std::string& name, const Attribute& value) {
    Steps b(op);
    b.attributes[name] = value;
    return b.refused();
  };
  EXPECT_THAT(with("LSTM", "clip", 3.0), HasSubstr("clipped"));
  EXPECT_THAT(with("LSTM", "input_forget", std::int64_t{1}), HasSubstr("coupled"));
  EXPECT_THAT(with("LSTM", "layout", std::int64_t{1}), HasSubstr("[N, L, F]"));
  EXPECT_THAT(with("LSTM", "direction", std::string("up")), HasSubstr("\"up\""));
  EXPECT_THAT(with("LSTM", "hidden_size", std::int64_t{5}), HasSubstr("hidden_size"));
  EXPECT_THAT(with("GRU", "linear_before_reset", std::int64_t{0}),
              HasSubstr("linear_before_reset"));
  EXPECT_THAT(with("LSTM", "activations", std::vector<std::string>{"Tanh", "Tanh", "Tanh"}),
              HasSubstr("usual activations"));
  EXPECT_THAT(with("LSTM", "activations", std::int64_t{3}), HasSubstr("another type"));
}

TEST(RecurrentImport, LengthsAreAnInput) {
  for (const char* op : {"LSTM", "GRU", "RNN"}) {
    for (const Ints& dims : {Ints{-1}, Ints{-1, 1}}) {
      Steps b(op, 2);
      b.graph.inputs.push_back({"lengths", dims, false, true});
      b.weights.push_back("lengths");
      const ImportedModel model = b.done().import();
      expect_fixed(model);
      EXPECT_EQ(model.description.layers[0].inputs.back(), "lengths");
      EXPECT_EQ(model.description.layers[1].inputs.back(), "lengths");
    }
  }
  Steps whole("GRU");
  whole.weights.push_back(whole.ints("lengths", {7, 7}));
  EXPECT_EQ(types_of_fixed(whole.done().import()), Types{"gru"});
}

TEST(RecurrentImport, HostileWeightsAreRefused) {
  const auto with = [](std::size_t input, const Ints& dims) {
    Steps b("LSTM");
    b.weights[input] = b.floats("other", dims);
    return b.refused();
  };
  EXPECT_THAT(with(0, {1, 8, 4}), HasSubstr("do not fit"));
  EXPECT_THAT(with(0, {2, 8, 3}), HasSubstr("do not fit"));
  EXPECT_THAT(with(1, {1, 7, 2}), HasSubstr("do not fit"));
  EXPECT_THAT(with(1, {8, 2}), HasSubstr("[directions, gates, hidden]"));
  EXPECT_THAT(with(1, {1, 8, 0}), HasSubstr("hidden_size does not fit"));
  EXPECT_THAT(with(2, {1, 15}), HasSubstr("do not fit"));
  const auto and_more = [](const std::vector<std::string>& more, float value) {
    Steps b("LSTM");
    for (const std::string& name : more)
      b.weights.push_back(name.empty() ? name : b.floats(name, {1, 1, 2}, value));
    return b.refused();
  };
  EXPECT_EQ(and_more({"", "h", "c"}, 0), "imported");
  EXPECT_THAT(and_more({"", "h", "c"}, 1), HasSubstr("if it is zeros"));
  EXPECT_THAT(and_more({"", "", "", "p"}, 1), HasSubstr("peepholes"));
  Steps lengths("LSTM");
  lengths.weights.push_back(lengths.ints("lengths", {7, 3}));
  EXPECT_THAT(lengths.refused(), HasSubstr("the whole length"));
  Steps floats("LSTM");
  floats.graph.inputs.push_back({"lengths", {-1, 1}, true});
  floats.weights.push_back("lengths");
  EXPECT_THAT(floats.refused(), HasSubstr("whole numbers, one a sample"));
  Steps image("LSTM");
  image.last = "image";
  EXPECT_THAT(image.refused(), HasSubstr("[L, N, F]"));
}

}  // namespace
}  // namespace moil::onnx
