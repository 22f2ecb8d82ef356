// Where weights come from: initializers or Constant nodes, one layer's each, and no masks.
#include "engine/model/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/io/onnx/export/onnx_export.h"
#include "tests/engine/io/onnx/builder.h"

namespace moil::onnx {
namespace {

using ::testing::HasSubstr;

std::vector<float> numbers(std::int64_t count, float first = 0.25F) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(first + static_cast<float>(i));
  return values;
}

// As Paddle's exporter writes weights.
std::string constant_node(Builder& b, const std::string& name, Tensor tensor) {
  const std::string last = b.last;
  b.graph.nodes.push_back(
      {"Constant." + name, "Constant", "", {}, {name}, {{"value", std::move(tensor)}}});
  b.last = last;
  return name;
}

TEST(Weights, MayLieInConstantNodes) {
  Builder b;
  constexpr std::int64_t kLarge = 1500;  // above what nodes may make of nothing
  b.add("Conv", {constant_node(b, "conv_w", Tensor::of({kLarge, 3, 8, 8}, numbers(kLarge * 192)))});
  b.add("Flatten");
  b.add("Gemm", {constant_node(b, "fc_w", Tensor::of({kLarge, 1000}, numbers(kLarge * 1000)))});
  const ImportedModel model = b.import();
  ASSERT_EQ(model.weights.size(), 2U);
  std::size_t count = 0;
  for (const auto& [name, weight] : model.weights) count += weight.data.size();
  EXPECT_EQ(count, static_cast<std::size_t>(kLarge * 192 + kLarge * 1000));
}

TEST(Weights, ThatAreTiedAreOne) {
  Builder b;
  b.graph.constants["w"] = Tensor::of({3, 3, 1, 1}, numbers(9));
  b.add("Conv", {"w"});
  b.add("Relu");
  b.add("Conv", {"w"});
  const ImportedModel model = b.import();
  EXPECT_EQ(model.weights.size(), 1U);
  EXPECT_EQ(model.description.layers.back().shares.size(), 1U);
}

// Three layers, and a bias beside the kernel; a second tie in the same model.
TEST(Weights, ManyTiesStandBesideEachOther) {
  Builder b;
  b.graph.constants["w"] = Tensor::of({3, 3, 1, 1}, numbers(9));
  b.graph.constants["b"] = Tensor::of({3}, {1, 2, 3});
  b.graph.constants["v"] = Tensor::of({3, 3, 1, 1}, [] {
    std::vector<float> values = numbers(9);
    std::reverse(values.begin(), values.end());
    return values;
  }());
  for (const char* kernel : {"w", "v", "w", "v", "w"}) b.add("Conv", {kernel, "b"});
  const ImportedModel model = b.import();
  EXPECT_EQ(model.weights.size(), 3U);
  std::size_t shares = 0;
  for (const LayerDescription& layer : model.description.layers) shares += layer.shares.size();
  EXPECT_EQ(shares, 2U + 1U + 4U);
  EXPECT_NO_THROW(check_weights(build_graph(model.description, 1), model.weights));
}

// Turned in one place alone it has two forms, whatever it is called.
TEST(Weights, ThatAreTiedInTwoFormsAreRefusedByName) {
  Builder b;
  b.graph.constants["w"] = Tensor::of({192, 192}, numbers(192 * 192));
  b.add("Flatten");
  const std::string rows = b.last;
  b.add_of("Identity", {"w"});
  const std::string other = b.last;
  b.add_of("Transpose", {other}, {{"perm", Ints{1, 0}}});
  const std::string turned = b.last;
  b.add_of("MatMul", {rows, "w"});
  b.add("Relu");
  b.add("MatMul", {turned});
  EXPECT_THAT(b.refusal(), HasSubstr("tied"));
}

// Exporters keep equal tensors once: fresh scales and biases are no ties.
TEST(Weights, OfOneNumberAreNoTies) {
  Builder b;
  b.floats("zeros", {4}, 0);
  b.add("Conv", {b.floats("a.weight", {4, 3, 1, 1}), "zeros"});
  b.add("Conv", {b.floats("b.weight", {4, 4, 1, 1}, 2), "zeros"});
  EXPECT_EQ(b.types(), (Types{"conv2d", "conv2d"}));
}

// Parts of one tensor are no ties: projections of attention lie in one matrix.
TEST(Weights, PartsOfOneTensorAreNoTies) {
  Builder b;
  b.graph.constants["in_proj"] = Tensor::of({8, 2}, numbers(16));
  b.add("Transpose", {}, {{"perm", Ints{0, 2, 3, 1}}});
  b.add("Reshape", {b.ints("dims", {-1, 24, 8})});
  const std::string rows = b.last;
  std::vector<std::string> products;
  for (const std::int64_t part : {0, 1}) {
    b.add_of("Slice", {"in_proj", b.ints("s" + std::to_string(part), {part}),
                       b.ints("e" + std::to_string(part), {part + 1}), b.ints("axis", {1})});
    products.push_back(b.add_of("MatMul", {rows, b.last}));
  }
  b.add_of("Mul", products);
  EXPECT_THAT(b.refusal(), "imported");
}

Builder rows() {
  Builder b;
  b.add("Reshape", {b.ints("dims", {-1, 4, 3, 16})});
  return b;
}

// A mask that broadcasts in the middle, over the heads of attention.
Tensor mask() {
  std::vector<float> values(4 * 16, 0);
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] = -100;
  return Tensor::of({1, 4, 1, 16}, values);
}

TEST(Weights, MasksAreNotTrained) {
  Builder b = rows();
  b.graph.constants["attn_mask"] = mask();
  b.add("Add", {"attn_mask"});
  b.add("Relu");
  b.add("Add", {"attn_mask"});  // of every block
  const ImportedModel model = b.import();
  const LayerDescription& layer = model.description.layers.at(1);
  EXPECT_EQ(layer.type, "add_parameter");
  EXPECT_EQ(std::get<Ints>(layer.properties.at("dims")), (Ints{4, 1, 16}));
  EXPECT_FALSE(std::get<bool>(layer.properties.at("trained")));
  // And are not when the model comes back.
  const ImportedModel again = import_onnx(export_onnx(model.description, model.weights));
  EXPECT_FALSE(std::get<bool>(again.description.layers.at(1).properties.at("trained")));
  EXPECT_EQ(again.description.layers.at(1).name, layer.name);
}

TEST(Weights, WhatIsMadeOfShapesAloneIsNotTrained) {
  Builder b = rows();
  const std::string x = b.last;
  b.add_of("ConstantOfShape", {b.ints("shape", {4, 1, 16})}, {{"value", Tensor::of({1}, {0.5F})}});
  b.add_of("Mul", {x, b.last});
  EXPECT_FALSE(std::get<bool>(b.import().description.layers.at(1).properties.at("trained")));
  Builder trained = rows();
  trained.add("Mul", {trained.floats("scale", {4, 1, 16})});
  EXPECT_FALSE(trained.import().description.layers.at(1).properties.contains("trained"));
}

TEST(Weights, MustBeFinite) {
  Builder b;
  b.add("Conv", {b.floats("c.weight", {4, 3, 1, 1}, std::numeric_limits<float>::infinity())});
  EXPECT_THAT(b.refusal(), HasSubstr("\"c.weight\" has values that are no finite numbers"));
}

}  // namespace
}  // namespace moil::onnx
