// Products of matrices as Gemm and Einsum write them, and what stands behind a classifier.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/io/model_json.h"
#include "tests/engine/io/onnx/builder.h"

namespace moil::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ProductImport, GemmsFactorsGoIntoItsWeights) {
  Builder b;
  b.add("GlobalAveragePool");
  b.add("Flatten");
  b.add("Gemm", {b.floats("fc.weight", {2, 3}, 0.5F), b.floats("fc.bias", {2}, 0.25F)},
        {{"transB", std::int64_t{1}}, {"alpha", 2.0}, {"beta", -4.0}});
  const ImportedModel model = b.import();
  EXPECT_THAT(model.weights.at("fc.weight").data, ElementsAre(1, 1, 1, 1, 1, 1));
  EXPECT_THAT(model.weights.at("fc.bias").data, ElementsAre(-1, -1));
}

TEST(ProductImport, OneNumberIsEveryUnitsBias) {
  for (const Ints& dims : {Ints{}, Ints{1}, Ints{1, 1}}) {
    Builder b;
    b.add("GlobalAveragePool");
    b.add("Flatten");
    b.add("Gemm", {b.floats("fc.weight", {2, 3}), b.floats("fc.bias", dims, 7)},
          {{"transB", std::int64_t{1}}});
    EXPECT_THAT(b.import().weights.at("fc.bias").data, ElementsAre(7, 7));
  }
}

TEST(ProductImport, ABatchNormBehindTheClassifierIsFolded) {
  Builder b;
  b.add("GlobalAveragePool");
  b.add("Flatten");
  b.add("Gemm", {b.floats("fc.weight", {2, 3}, 0.5F), b.floats("fc.bias", {2}, 3)},
        {{"transB", std::int64_t{1}}});
  b.add("BatchNormalization",
        {b.floats("n.weight", {2}, 2), b.floats("n.bias", {2}, 1), b.floats("n.mean", {2}, 1),
         b.floats("n.var", {2}, 3)},
        {{"epsilon", 1.0}});
  const ImportedModel model = b.import();
  EXPECT_EQ(model.description.layers.back().type, "fully_connected");
  EXPECT_THAT(model.weights.at("fc.weight").data, ElementsAre(0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F));
  EXPECT_THAT(model.weights.at("fc.bias").data, ElementsAre(3, 3));
}

TEST(ProductImport, PoolsMayHaveGaps) {
  Builder b;
  b.add("MaxPool", {}, {{"kernel_shape", Ints{2, 2}}, {"dilations", Ints{2, 3}}});
  EXPECT_EQ(std::get<Ints>(b.import().description.layers.at(0).properties.at("dilation")),
            (Ints{2, 3}));
  Builder average;
  average.add("AveragePool", {}, {{"kernel_shape", Ints{2, 2}}, {"dilations", Ints{2, 3}}});
  EXPECT_THAT(average.refusal(), HasSubstr("gaps"));
}

std::string einsum(const std::string& equation, const Ints& dims = {-1, 3, 8, 8}) {
  Builder b;
  b.add("Reshape", {b.ints("dims", dims)});
  b.add_of("Einsum", {b.last, b.last}, {{"equation", equation}});
  const std::string told = b.refusal();
  if (told != "imported") return told;
  std::string types;
  for (const std::string& type : b.types()) types += (types.empty() ? "" : " ") + type;
  return types;
}

TEST(ProductImport, EquationsThatAreProducts) {
  EXPECT_THAT(einsum("b g i d, b g j d -> b g i j"), HasSubstr("matmul"));
  EXPECT_THAT(einsum("bgij,bgjd->bgid"), HasSubstr("matmul"));
  // Axes that turn before and behind.
  EXPECT_THAT(einsum("bchw,bdhw->bhdwc"), HasSubstr("sums over nothing"));
  EXPECT_THAT(einsum("bchw,bchv->bwhv"), HasSubstr("matmul"));
  // Two axes summed at once.
  EXPECT_THAT(einsum("bchw,bdhw->bcd"), HasSubstr("matmul"));
}

TEST(ProductImport, EquationsThatAreNone) {
  EXPECT_THAT(einsum("bchw,xchw->bx"), HasSubstr("not have the batch"));
  EXPECT_THAT(einsum("bchw,bchw->chw"), HasSubstr("along the batch"));
  EXPECT_THAT(einsum("bchw,bdhv->bcd"), HasSubstr("sums over an axis of one input"));
  EXPECT_THAT(einsum("bcch,bchw->bc"), HasSubstr("twice"));
  EXPECT_THAT(einsum("bch,bchw->bw"), HasSubstr("does not fit"));
  EXPECT_THAT(einsum("...hw,...hw->..."), HasSubstr("name every axis"));
  EXPECT_THAT(einsum(std::string("\0chw,\0chv->\0hwv", 15)), HasSubstr("other signs"));
  EXPECT_THAT(einsum("bchw->bwhc"), HasSubstr("does not fit"));
  EXPECT_THAT(einsum("bchw,bcvw->bcvhx"), HasSubstr("neither a product"));
}

TEST(ProductImport, EquationsWithAMatrix) {
  Builder b;
  b.add("Einsum", {b.floats("mix.weight", {3, 5})}, {{"equation", std::string("bchw,cd->bdhw")}});
  b.add("GlobalAveragePool");
  const ImportedModel model = b.import();
  EXPECT_EQ(model.weights.at("mix.weight").dims, (Ints{5, 3}));
}

TEST(ProductImport, OpenDimsAreAskedForByTheOptionsName) {
  Builder b;
  b.graph.inputs[0].dims = {-1, 3, -1, -1};
  b.add("GlobalAveragePool");
  ImportOptions options;
  options.input_dims_name = "--input-dims";
  EXPECT_THAT(b.refusal(options),
              HasSubstr("open (?x3x?x?, batch first); say those of one sample with "
                        "--input-dims, such as 3 224 224"));
  options.input_dims = {3, 8, 8};
  EXPECT_EQ(b.refusal(options), "imported");
  options.input_dims = {1, 8, 8};
  EXPECT_THAT(b.refusal(options), HasSubstr("is ?x3x?x? in the file"));
}

}  // namespace
}  // namespace moil::onnx
