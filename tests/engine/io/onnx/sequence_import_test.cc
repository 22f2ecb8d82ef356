// Rows, attention and the chains that exporters write of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/io/onnx/exported.h"

namespace moil::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Rows : public Builder {
 public:
  Rows() { graph.inputs = {{"image", {-1, 6, 8}, true}}; }
};

// By the layer's type; the first of it.
const LayerDescription& layer_of(const ImportedModel& model, const std::string& type) {
  for (const auto& layer : model.description.layers)
    if (layer.type == type) return layer;
  throw std::runtime_error("no " + type);
}

void add_gelu(Builder& b, bool half_first) {
  const std::string x = b.last;
  b.add("Div", {b.floats("root", {}, 1.41421356F)});
  b.add("Erf");
  b.add("Add", {b.floats("one", {}, 1)});
  const std::string share = b.last;
  if (half_first) {
    b.add_of("Mul", {x, b.floats("half", {}, 0.5F)});
    b.add_of("Mul", {b.last, share});
  } else {
    b.add_of("Mul", {x, share});
    b.add("Mul", {b.floats("half", {}, 0.5F)});
  }
}

TEST(SequenceImport, GeluInItsParts) {
  for (const bool half_first : {false, true}) {
    Rows b;
    add_gelu(b, half_first);
    EXPECT_EQ(types_of_fixed(b.import()), Types{"gelu"});
  }
  Rows other;
  other.add("Erf");
  other.add("Relu");
  EXPECT_THAT(other.refusal(), HasSubstr("part of GELU or layer normalisation alone"));
}

void add_norm(Builder& b, bool affine) {
  const std::string x = b.last;
  b.add("ReduceMean", {}, {{"axes", Ints{-1}}});
  b.add_of("Sub", {x, b.last});
  const std::string centred = b.last;
  b.add("Pow", {b.floats("two", {}, 2)});
  b.add("ReduceMean", {}, {{"axes", Ints{-1}}});
  b.add("Add", {b.floats("epsilon", {}, 1e-6F)});
  b.add("Sqrt");
  b.add_of("Div", {centred, b.last});
  if (!affine) return;
  b.add("Mul", {b.floats("norm.weight", {8}, 3)});
  b.add("Add", {b.floats("norm.bias", {8}, 4)});
}

TEST(SequenceImport, LayerNormInItsParts) {
  Rows b;
  add_norm(b, true);
  const ImportedModel model = b.import();
  ASSERT_EQ(types_of_fixed(model), Types{"layer_norm"});
  EXPECT_EQ(model.description.layers[0].name, "norm");
  EXPECT_EQ(std::get<double>(model.description.layers[0].properties.at("epsilon")), 1e-6);
  EXPECT_EQ(model.weights.at("norm.gamma").data[0], 3);
  EXPECT_EQ(model.weights.at("norm.beta").data[7], 4);

  Rows bare;
  add_norm(bare, false);
  bare.add("Relu");
  const ImportedModel plain = bare.import();
  EXPECT_EQ(types_of_fixed(plain), (Types{"layer_norm", "relu"}));
  EXPECT_TRUE(plain.weights.empty());

  Rows scaled;
  add_norm(scaled, false);
  scaled.add("Mul", {scaled.floats("gain", {8})});
  scaled.add("Relu");
  const ImportedModel gain = scaled.import();
  EXPECT_EQ(types_of_fixed(gain), (Types{"layer_norm", "multiply_parameter", "relu"}));
  EXPECT_TRUE(gain.weights.contains("gain.weight"));

  Rows whole;
  whole.graph.opset = 17;
  whole.add("LayerNormalization",
            {whole.floats("norm.weight", {8}), whole.floats("norm.bias", {8})});
  EXPECT_EQ(whole.types(), Types{"layer_norm"});
}

// A gain of one number is a weight all the same if a row has one place.
TEST(SequenceImport, LayerNormOfSinglePlaces) {
  Builder b;
  b.graph.inputs = {{"image", {-1, 6, 1}, true}};
  b.graph.opset = 17;
  b.add("LayerNormalization", {b.floats("norm.weight", {1}, 3), b.floats("norm.bias", {1}, 4)});
  EXPECT_EQ(types_of_fixed(b.import()), Types{"layer_norm"});
}

TEST(SequenceImport, GeluOfWhatIsHalved) {
  for (const bool half_first : {false, true}) {
    Rows twice;
    add_gelu(twice, half_first);
    add_gelu(twice, half_first);
    EXPECT_EQ(types_of_fixed(twice.import()), (Types{"gelu", "gelu"}));
    Rows halved;
    halved.add("Mul", {halved.floats("half", {}, 0.5F)});
    add_gelu(halved, half_first);
    EXPECT_EQ(types_of(halved.import()), (Types{"scale", "gelu"}));
  }
}

// Normalisation over any other axis is none that there is a layer for.
TEST(SequenceImport, ChainsOverOtherAxesAreNoLayerNorm) {
  for (const std::int64_t axis : {std::int64_t{1}, std::int64_t{-2}}) {
    for (const std::int64_t other : {std::int64_t{-1}, axis}) {
      Rows b;
      b.add("ReduceMean", {}, {{"axes", Ints{axis}}});
      const std::string centred = b.add_of("Sub", {"image", b.last});
      b.add("Pow", {b.floats("two", {}, 2)});
      b.add("ReduceMean", {}, {{"axes", Ints{other}}});
      b.add("Add", {b.floats("epsilon", {}, 1e-5F)});
      b.add("Sqrt");
      b.add_of("Div", {centred, b.last});
      EXPECT_THAT(b.refusal(), HasSubstr("not supported"));
    }
  }
}

TEST(SequenceImport, ProductsOfRowsHaveTheirBias) {
  Rows b;
  b.add("MatMul", {b.floats("fc.weight", {8, 5})});
  b.add_of("Add", {b.floats("fc.bias", {5}), b.last});
  const ImportedModel model = b.import();
  ASSERT_EQ(types_of_fixed(model), Types{"fully_connected"});
  EXPECT_EQ(model.description.layers[0].name, "fc");
  EXPECT_EQ(model.weights.at("fc.weight").dims, (Ints{5, 8}));
}

// One number a channel of an image is none of a product over its columns.
TEST(SequenceImport, ChannelsAreNoBiasOfAProduct) {
  Builder b;
  b.add("MatMul", {b.floats("fc.weight", {8, 5})});
  b.add("Add", {b.floats("c", {1, 3, 1, 1})});
  const ImportedModel model = b.import();
  EXPECT_EQ(types_of(model), (Types{"reshape", "fully_connected", "reshape", "conv2d"}));
  EXPECT_FALSE(std::get<bool>(layer_of(model, "fully_connected").properties.at("bias")));
}

// Rows of one place: their bias could be taken for a parameter of the whole row.
TEST(SequenceImport, ProductsOfSingleRowsHaveTheirBias) {
  Rows b;
  b.add("Reshape", {b.ints("one", {0, 1, 48})});
  b.add("MatMul", {b.floats("fc.weight", {48, 5})});
  b.add_of("Add", {b.floats("fc.bias", {5}), b.last});
  const ImportedModel model = b.import();
  EXPECT_EQ(types_of_fixed(model), (Types{"reshape", "fully_connected"}));
  EXPECT_EQ(model.weights.at("fc.bias").dims, Ints{5});
}

TEST(SequenceImport, NodesThatNoOutputNeedsReadNothing) {
  Rows b;
  b.add("MatMul", {b.floats("fc.weight", {8, 5})});
  const std::string product = b.last;
  b.add("Tanh");
  b.add_of("Add", {b.floats("fc.bias", {5}), product});
  EXPECT_EQ(types_of(b.import()), Types{"fully_connected"});
}

TEST(SequenceImport, ClassTokenAndPositions) {
  Rows b;
  b.add("Shape");
  b.add("Gather", {b.ints("zero", {0})});
  b.add_of("Concat", {b.last, b.ints("rest", {-1, -1})}, {{"axis", std::int64_t{0}}});
  const std::string wish = b.last;
  b.add_of("Shape", {wish});
  b.add("ConstantOfShape", {}, {{"value", Tensor::of_ints({1}, {1})}});
  const std::string ones = b.last;
  b.add("Mul", {b.ints("minus", {-1})});
  b.add_of("Equal", {wish, b.last});
  b.add_of("Where", {b.last, ones, wish});
  b.add_of("Expand", {b.floats("cls_token", {1, 1, 8}), b.last});
  b.add_of("Concat", {b.last, "image"}, {{"axis", std::int64_t{1}}});
  b.add("Add", {b.floats("pos_embed", {1, 7, 8})});
  b.add("Gather", {"index"}, {{"axis", std::int64_t{1}}});
  b.graph.constants["index"] = Tensor::of_ints({}, {0});
  const ImportedModel model = b.import();
  EXPECT_EQ(types_of_fixed(model),
            (Types{"prepend_parameter", "add_parameter", "slice", "flatten"}));
  EXPECT_EQ(model.weights.at("cls_token.weight").dims, (Ints{1, 8}));
  EXPECT_EQ(model.weights.at("pos_embed.weight").dims, (Ints{7, 8}));
}

// Queries, keys and values of one product, as [3, N, heads, L, F].
TEST(SequenceImport, Attention) {
  Rows b;
  b.add("MatMul", {b.floats("qkv.weight", {8, 24})});
  b.add("Reshape", {b.ints("split", {-1, 6, 3, 2, 4})});
  b.add("Transpose", {}, {{"perm", Ints{2, 0, 3, 1, 4}}});
  const std::string all = b.last;
  std::vector<std::string> parts;
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::string index = "i" + std::to_string(i);
    b.graph.constants[index] = Tensor::of_ints({}, {i});
    parts.push_back(b.add_of("Gather", {all, index}, {{"axis", std::int64_t{0}}}));
  }
  b.add_of("Transpose", {parts[1]}, {{"perm", Ints{0, 1, 3, 2}}});
  b.add_of("MatMul", {parts[0], b.last});
  b.add("Mul", {b.floats("scale", {}, 0.5F)});
  b.add("Softmax", {}, {{"axis", std::int64_t{-1}}});
  b.add_of("MatMul", {b.last, parts[2]});
  b.add("Transpose", {}, {{"perm", Ints{0, 2, 1, 3}}});
  b.add("Reshape", {b.ints("join", {0, 0, 8})});
  const ImportedModel model = b.import();
  EXPECT_EQ(
      types_of_fixed(model),
      (Types{"fully_connected", "reshape", "permute", "slice", "reshape", "slice", "reshape",
             "matmul", "scale", "softmax", "slice", "reshape", "matmul", "permute", "reshape"}));
  EXPECT_TRUE(std::get<bool>(layer_of(model, "matmul").properties.at("transpose_b")));
}

// As PyTorch's own attention: rows, then the batch; heads and the batch are one axis.
TEST(SequenceImport, TheBatchMayStandAnywhere) {
  Rows b;
  b.add("Transpose", {}, {{"perm", Ints{1, 0, 2}}});
  b.add("Reshape", {b.ints("heads", {6, 2, 4})});
  b.add("Transpose", {}, {{"perm", Ints{1, 0, 2}}});
  const std::string rows = b.last;
  b.add("Transpose", {}, {{"perm", Ints{0, 2, 1}}});
  b.add_of("MatMul", {rows, b.last});
  b.add("Softmax", {}, {{"axis", std::int64_t{-1}}});
  b.add_of("MatMul", {b.last, rows});
  b.add("Transpose", {}, {{"perm", Ints{1, 0, 2}}});
  b.add("Reshape", {b.ints("flat", {6, 8})});
  b.add("Gemm", {b.floats("out.weight", {8, 8}), b.floats("out.bias", {8})});
  b.add("Reshape", {b.ints("back", {6, 1, 8})});
  b.add("Transpose", {}, {{"perm", Ints{1, 0, 2}}});
  EXPECT_EQ(types_of_fixed(b.import()), (Types{"reshape", "permute", "matmul", "softmax", "matmul",
                                               "permute", "reshape", "fully_connected"}));
}

TEST(SequenceImport, AnImageBecomesRowsAndAnImageAgain) {
  Builder b;
  b.add("Conv", {b.floats("c.weight", {4, 3, 1, 1})});
  b.add("Transpose", {}, {{"perm", Ints{0, 2, 3, 1}}});
  b.add("MatMul", {b.floats("fc.weight", {4, 4})});
  b.add("Transpose", {}, {{"perm", Ints{0, 3, 1, 2}}});
  b.add("Conv", {b.floats("d.weight", {4, 4, 1, 1})});
  b.add("Reshape", {b.ints("rows", {0, 4, 64})});
  b.add("Softmax");
  b.add("Reshape", {b.ints("square", {0, 4, 8, 8})});
  b.add("Conv", {b.floats("e.weight", {4, 4, 1, 1})});
  EXPECT_EQ(types_of_fixed(b.import()),
            (Types{"conv2d", "permute", "fully_connected", "permute", "conv2d", "reshape",
                   "softmax", "reshape", "reshape", "conv2d"}));
}

TEST(SequenceImport, MeansOfRows) {
  for (const std::int64_t axis : {1, 2}) {
    for (const std::int64_t keeps : {0, 1}) {
      Rows b;
      b.add("ReduceMean", {}, {{"axes", Ints{axis}}, {"keepdims", keeps}});
      b.add("Relu");
      const ImportedModel model = b.import();
      EXPECT_EQ(layer_of(model, "global_average_pool").inputs.size(), 1U);
      expect_fixed(model);
    }
  }
}

TEST(SequenceImport, RefusesWhatMixesSamples) {
  Rows softmax;
  softmax.add("Transpose", {}, {{"perm", Ints{1, 2, 0}}});
  softmax.add("Softmax", {}, {{"axis", std::int64_t{-1}}});
  EXPECT_THAT(softmax.refusal(), HasSubstr("along the batch"));
  Rows output;
  output.add("Transpose", {}, {{"perm", Ints{1, 0, 2}}});
  output.add("Relu");
  EXPECT_THAT(output.refusal(), HasSubstr("does not have the batch first"));
  Rows two;
  two.graph.inputs = {{"image", {2, 6, 8}, true}};
  two.add("Reshape", {two.ints("flat", {12, 8})});
  two.add("Relu");
  EXPECT_THAT(two.refusal(), HasSubstr("one axis of the batch and another"));
}

}  // namespace
}  // namespace moil::onnx
