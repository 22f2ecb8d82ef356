// Operators that few classifiers use, in and out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/engine/io/onnx/exported.h"

namespace moil::onnx {
namespace {

using ::testing::HasSubstr;

// The types, once it is sure that exporting and importing again changes nothing.
Types types_of(Builder& b) { return types_of_fixed(b.import()); }

TEST(OddOperators, Activations) {
  Builder slopes;
  slopes.add("PRelu", {slopes.floats("p.weight", {3, 1, 1})});
  slopes.add("PRelu", {slopes.floats("q.weight", {1})});
  EXPECT_EQ(types_of(slopes), (Types{"prelu", "prelu"}));
  Builder clips;
  clips.add("Clip", {clips.floats("a", {}, -1), clips.floats("b", {}, 2)});
  clips.add("Clip", {"", clips.floats("c", {}, 0.1F)});
  clips.add("Clip", {clips.floats("d", {}, -0.5F)});
  clips.add("HardSigmoid", {}, {{"alpha", 0.2}, {"beta", 0.5}});
  EXPECT_EQ(types_of(clips), (Types{"clip", "clip", "clip", "scale", "scale", "clip"}));
  Builder logs;
  logs.add("LogSoftmax", {}, {{"axis", std::int64_t{1}}});
  logs.add("Softmax", {}, {{"axis", std::int64_t{-1}}});
  EXPECT_EQ(types_of(logs), (Types{"log_softmax", "reshape", "softmax"}));
}

TEST(OddOperators, ArithmeticOfTensors) {
  Builder b;
  b.add("Relu");
  const std::string x = b.last;
  b.add("Sigmoid");
  const std::string y = b.last;
  b.add_of("Sub", {x, y});
  b.add_of("Div", {b.last, y});
  b.add_of("Sub", {b.floats("one", {}, 1), b.last});
  b.add_of("Div", {b.floats("two", {}, 2), b.last});
  b.add("Neg");
  EXPECT_EQ(types_of(b), (Types{"relu", "sigmoid", "scale", "add", "reciprocal", "multiply",
                                "scale", "scale", "reciprocal", "scale", "scale"}));
}

TEST(OddOperators, ExtremesOfTensors) {
  Builder b;
  b.add("Relu");
  const std::string x = b.last;
  b.add("Tanh");
  b.add_of("Max", {x, b.last});
  b.add_of("Min", {b.last, x, b.floats("two", {}, 2), b.floats("one", {}, 1)});
  EXPECT_EQ(types_of(b), (Types{"relu", "tanh", "maximum", "minimum", "clip"}));
  EXPECT_EQ(std::get<double>(b.import().description.layers.back().properties.at("max")), 1);
  Builder apart;
  apart.graph.inputs.push_back({"other", {-1, 4, 9, 9}, true});
  apart.add_of("Max", {"image", "other"});
  EXPECT_THAT(apart.refusal(), HasSubstr("input 1 is 1x4x9x9"));
  Builder row;
  row.add("Min", {row.floats("row", {3, 1, 1})});
  EXPECT_THAT(row.refusal(), HasSubstr("only limits of one number"));
}

// Of a file for one sample it is the sample's.
TEST(OddOperators, ReductionsOverTheBatch) {
  for (const bool alone : {false, true}) {
    for (const Ints& axes : {Ints{}, Ints{0}, Ints{0, 2}}) {
      Builder b;
      if (alone) b.graph.inputs[0].dims[0] = 1;
      b.add("ReduceMax", {}, {{"axes", axes}});
      if (!alone) {
        EXPECT_THAT(b.refusal(), HasSubstr("it works along the batch"));
      } else {
        b.add("Relu");
        EXPECT_EQ(b.import().description.layers.back().type, "relu");
      }
    }
  }
}

TEST(OddOperators, PartsOfAxes) {
  Builder b;
  b.graph.nodes.push_back({"split", "Split", "", {"image"}, {"a", "b"}, {}});
  b.graph.nodes[0].attributes["axis"] = std::int64_t{2};
  b.last = "b";
  b.add("Slice",
        {b.ints("s", {1, -9}), b.ints("e", {99, 9}), b.ints("x", {3, 1}), b.ints("steps", {2, 1})});
  b.add_of("Concat", {b.last, b.last}, {{"axis", std::int64_t{3}}});
  EXPECT_EQ(types_of(b), (Types{"slice", "slice", "concat"}));
  Builder backwards;
  backwards.add("Slice", {backwards.ints("s", {-1}), backwards.ints("e", {-99}),
                          backwards.ints("x", {3}), backwards.ints("steps", {-1})});
  EXPECT_EQ(types_of(backwards), (Types{"slice"}));
  Builder still;
  still.add("Slice", {still.ints("s", {0}), still.ints("e", {9}), still.ints("x", {3}),
                      still.ints("t", {0})});
  EXPECT_THAT(still.refusal(), HasSubstr("its step is 0"));
  Builder samples;
  samples.add("Slice", {samples.ints("s", {0}), samples.ints("e", {0}), samples.ints("x", {0})});
  EXPECT_THAT(samples.refusal(), HasSubstr("takes nothing"));
}

TEST(OddOperators, PaddingThatNoConvolutionTakes) {
  Builder b;
  b.add("Pad", {b.ints("p", {0, 0, 1, 1, 0, 0, 1, 1})});
  b.add("Relu");
  b.add("Pad", {b.ints("q", {0, 1, 0, 0, 0, 2, 0, 0})});
  b.add("Pad", {b.ints("r", {0, 0, 1, 0, 0, 0, 0, 0}), b.floats("v", {}, 0.1F)});
  EXPECT_EQ(types_of(b), (Types{"pad", "relu", "pad", "pad"}));
  Builder last;
  last.add("Relu");
  last.add("Pad", {last.ints("p", {0, 0, 1, 1, 0, 0, 1, 1})});
  EXPECT_EQ(types_of(last), (Types{"relu", "pad"}));
  Builder less;
  less.add("Pad", {less.ints("p", {0, 0, -1, 0, 0, 0, 0, 0})});
  EXPECT_THAT(less.refusal(), HasSubstr("adds elements"));
}

// Whoever else reads it, and under whatever name.
TEST(OddOperators, PaddingThatConvolutionsTakeThoughItIsALayer) {
  Builder renamed;
  renamed.add("Pad", {renamed.ints("p", {0, 0, 1, 1, 0, 0, 1, 1})});
  renamed.add("Reshape", {renamed.ints("shape", {0, 0, 0, 0})});
  renamed.add("Conv", {renamed.floats("c.weight", {4, 3, 3, 3})});
  EXPECT_EQ(types_of(renamed), Types{"conv2d"});
  for (const bool pool_first : {true, false}) {
    Builder shared;
    shared.add("Pad", {shared.ints("p", {0, 0, 1, 0, 0, 0, 1, 0})});
    const std::string once = shared.last;
    shared.add("Pad", {shared.ints("q", {0, 0, 0, 1, 0, 0, 0, 1})});
    const std::string twice = shared.last;
    shared.add_of("MaxPool", {once}, {{"kernel_shape", Ints{1, 1}}, {"pads", Ints{0, 0, 0, 0}}});
    shared.add("Conv", {shared.floats("a.weight", {4, 3, 1, 3})}, {{"pads", Ints{0, 1, 0, 1}}});
    const std::string pooled = shared.last;
    shared.add_of("Conv", {twice, shared.floats("b.weight", {4, 3, 1, 3})});
    const std::string convolved = shared.last;
    shared.add_of("Add", pool_first ? std::vector<std::string>{pooled, convolved}
                                    : std::vector<std::string>{convolved, pooled});
    Types types = types_of(shared);
    std::sort(types.begin(), types.end());
    EXPECT_EQ(types, (Types{"add", "conv2d", "conv2d", "max_pool", "pad"}));
  }
}

TEST(OddOperators, NumbersThatCannotBe) {
  Builder division;
  division.add("Div", {division.floats("zero", {}, 0)});
  EXPECT_THAT(division.refusal(), HasSubstr("not a finite number"));
  Builder indices;
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  indices.add("Gather", {indices.ints("i", {kLeast, kMost})}, {{"axis", std::int64_t{2}}});
  EXPECT_THAT(indices.refusal(), HasSubstr("inside its input"));
  Builder slices;
  slices.add("Slice", {slices.ints("s", {kLeast}), slices.ints("e", {kMost}), slices.ints("x", {2}),
                       slices.ints("steps", {kMost})});
  EXPECT_EQ(types_of(slices), Types{"slice"});
  Builder pads;
  pads.add("Pad", {pads.ints("p", {0, 0, kMost, 0, 0, 0, kMost, 0})});
  EXPECT_THAT(pads.refusal(), HasSubstr("adds elements"));
  Builder sums;
  sums.add("Pad", {sums.ints("p", {0, 0, 1 << 23, 0, 0, 0, 0, 0})});
  sums.add("Pad", {sums.ints("q", {0, 0, 1 << 23, 0, 0, 0, 0, 0})});
  sums.add("Conv", {sums.floats("c.weight", {4, 3, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}});
  EXPECT_THAT(sums.refusal(), HasSubstr("larger than images can be"));
}

// A node that computes what an initializer is already would be part of a chain that is none.
TEST(OddOperators, NamesThatNodesAndConstantsShare) {
  Builder b;
  b.graph.nodes.push_back({"mean", "ReduceMean", "", {}, {b.floats("mean", {})}, {}});
  b.add("Sub", {"mean"});
  EXPECT_THAT(b.refusal(), HasSubstr("which is an input or a constant"));
}

// What would change numbers is never passed over.
TEST(OddOperators, WholeNumbersOfComputedValuesAreRefusedByName) {
  for (const std::int64_t type : {2, 3, 4, 5, 6, 7, 9, 12, 13}) {
    Builder b;
    b.add("Neg");
    const std::string cast = b.add("Cast", {}, {{"to", type}});
    b.add("Cast", {}, {{"to", std::int64_t{1}}});
    b.add("Neg");
    EXPECT_THAT(b.refusal(), HasSubstr(cast)) << type;
    EXPECT_THAT(b.refusal(), HasSubstr("only constants can become whole numbers")) << type;
  }
  for (const std::int64_t type : {1, 10, 11, 16}) {
    Builder b;
    b.add("Neg");
    b.add("Cast", {}, {{"to", type}});
    b.add("Neg");
    EXPECT_EQ(types_of(b), (Types{"scale", "scale"})) << type;
  }
  Builder none;
  none.add("Neg");
  none.add("Cast", {}, {{"to", std::int64_t{8}}});
  EXPECT_THAT(none.refusal(), HasSubstr("no type of numbers"));
}

TEST(OddOperators, OutputsThatNothingComputesAreRefusedByName) {
  Builder b;
  b.graph.nodes.push_back({"drop", "Dropout", "", {"image"}, {"kept", "mask"}, {}});
  b.last = "kept";
  EXPECT_EQ(types_of(b), Types{"dropout"});
  b.add_of("Add", {"kept", "mask"});
  EXPECT_THAT(b.refusal(), HasSubstr("its output \"mask\" is not supported"));
}

}  // namespace
}  // namespace moil::onnx
