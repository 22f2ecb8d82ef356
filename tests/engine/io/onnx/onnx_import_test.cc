#include "engine/io/onnx/onnx_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/io/model_json.h"
#include "tests/engine/io/onnx/builder.h"

namespace moil::onnx {
namespace {

using ::testing::HasSubstr;

TEST(OnnxImport, NamesLayersAfterTheirWeights) {
  Builder b;
  b.add("Conv", {b.floats("stem.weight", {4, 3, 3, 3}), b.floats("stem.bias", {4})});
  const ImportedModel model = b.import();
  ASSERT_EQ(model.description.layers.size(), 1U);
  EXPECT_EQ(model.description.layers[0].name, "stem");
  EXPECT_TRUE(model.weights.contains("stem.weight"));
  EXPECT_TRUE(model.weights.contains("stem.bias"));
}

TEST(OnnxImport, PaddingGoesIntoTheConvolution) {
  Builder b;
  b.add("Pad", {b.ints("pads", {0, 0, 0, 0, 0, 0, 1, 1})});
  b.add("Conv", {b.floats("c.weight", {4, 3, 3, 3})}, {{"strides", Ints{2, 2}}});
  const auto model = b.import();
  EXPECT_EQ(std::get<Ints>(model.description.layers.at(0).properties.at("padding")),
            (Ints{0, 0, 1, 1}));
}

TEST(OnnxImport, SamePaddingFollowsTheSize) {
  Builder b;
  b.add("Conv", {b.floats("c.weight", {4, 3, 3, 3})},
        {{"strides", Ints{2, 2}}, {"auto_pad", std::string("SAME_UPPER")}});
  EXPECT_EQ(std::get<Ints>(b.import().description.layers.at(0).properties.at("padding")),
            (Ints{0, 0, 1, 1}));
}

TEST(OnnxImport, ShapesAreFolded) {
  Builder b;
  b.add("GlobalAveragePool");
  const std::string pooled = b.last;
  b.add("Shape");
  b.add("Gather", {b.ints("zero", {0})});
  b.add_of("Concat", {b.last, b.ints("rest", {-1})}, {{"axis", std::int64_t{0}}});
  b.add_of("Reshape", {pooled, b.last});
  b.add("Gemm", {b.floats("fc.weight", {5, 3}), b.floats("fc.bias", {5})},
        {{"transB", std::int64_t{1}}});
  EXPECT_EQ(b.types(), (Types{"global_average_pool", "flatten", "fully_connected"}));
}

TEST(OnnxImport, ChainsThatMeanOneActivationBecomeIt) {
  Builder silu;
  silu.add("Sigmoid");
  silu.add_of("Mul", {"image", silu.last});
  EXPECT_EQ(silu.types(), Types{"silu"});

  Builder swish;
  swish.add("Add", {swish.floats("three", {}, 3)});
  swish.add("Clip", {swish.floats("low", {}, 0), swish.floats("high", {}, 6)});
  swish.add_of("Mul", {"image", swish.last});
  swish.add("Div", {swish.floats("six", {}, 6)});
  EXPECT_EQ(swish.types(), Types{"hard_swish"});
}

TEST(OnnxImport, ABiasBehindAProductIsItsBias) {
  Builder b;
  b.add("Flatten");
  b.add("MatMul", {b.floats("w", {192, 5})});
  b.add("Add", {b.floats("bias", {5})});
  const auto model = b.import();
  ASSERT_EQ(model.description.layers.size(), 2U);
  EXPECT_TRUE(std::get<bool>(model.description.layers[1].properties.at("bias")));
}

TEST(OnnxImport, ChannelsLastInputsAreTurned) {
  Builder b;
  b.graph.inputs = {{"image", {-1, 8, 8, 3}, true}};
  b.add("Transpose", {}, {{"perm", Ints{0, 3, 1, 2}}});
  b.add("Relu");
  const auto model = b.import();
  EXPECT_EQ(model.description.inputs.at(0).dims, (Ints{3, 8, 8}));
}

TEST(OnnxImport, InputsThatOthersReadStayAsTheyAre) {
  Builder b;
  b.graph.inputs = {{"image", {-1, 8, 8, 3}, true}};
  b.add("Transpose", {}, {{"perm", Ints{0, 3, 1, 2}}});
  const std::string turned = b.last;
  b.add_of("Relu", {"image"});
  b.add("Transpose", {}, {{"perm", Ints{0, 3, 1, 2}}});
  b.add_of("Add", {b.last, turned});
  const auto model = b.import();
  EXPECT_EQ(model.description.inputs.at(0).dims, (Ints{8, 8, 3}));
  EXPECT_EQ(b.types(), (Types{"relu", "permute", "permute", "add"}));
}

TEST(OnnxImport, TellsOfEveryNodeThatIsNotSupported) {
  Builder b;
  b.add("Fancy");
  b.add("Relu");
  b.add("ConvTranspose", {b.floats("w", {3, 3, 3, 3})});
  b.add("Softmax", {}, {{"axis", std::int64_t{2}}});
  const std::string text = b.refusal();
  EXPECT_THAT(text, HasSubstr("node \"Fancy0\" (Fancy)"));
  EXPECT_THAT(text, HasSubstr("(ConvTranspose)"));
  EXPECT_THAT(text, HasSubstr("2 of 4 nodes"));

  Builder two;
  two.add_of("LRN", {"image"}, {{"size", std::int64_t{2}}});
  const std::string first = two.last;
  two.add_of("ConvTranspose", {"image", two.floats("w", {3, 3, 3, 3})});
  two.add_of("Add", {first, two.last});
  const std::string both = two.refusal();
  EXPECT_THAT(both, HasSubstr("an odd number"));
  EXPECT_THAT(both, HasSubstr("(ConvTranspose)"));
}

TEST(OnnxImport, RefusesGraphsThatContradictThemselves) {
  Builder cycle;
  cycle.graph.nodes = {{"a", "Relu", "", {"y"}, {"x"}, {}}, {"b", "Relu", "", {"x"}, {"y"}, {}}};
  cycle.last = "y";
  EXPECT_THAT(cycle.refusal(), HasSubstr("depends on its own output"));

  Builder unknown;
  unknown.add_of("Relu", {"nowhere"});
  EXPECT_THAT(unknown.refusal(), HasSubstr("which nothing computes"));

  Builder twice;
  twice.add("Relu");
  twice.graph.nodes.push_back(twice.graph.nodes[0]);
  EXPECT_THAT(twice.refusal(), HasSubstr("two nodes compute"));

  Builder channels;
  channels.add("Conv", {channels.floats("c.weight", {4, 5, 3, 3})});
  EXPECT_THAT(channels.refusal(), HasSubstr("should be of"));
}

TEST(OnnxImport, OldAndNewOpsetsAreRefusedByNumber) {
  Builder b;
  b.add("Relu");
  for (const std::int64_t opset : {6, 24}) {
    b.graph.opset = opset;
    EXPECT_EQ(b.refusal(), "opset " + std::to_string(opset) + "; supported are 7 to 23");
  }
}

}  // namespace
}  // namespace moil::onnx
