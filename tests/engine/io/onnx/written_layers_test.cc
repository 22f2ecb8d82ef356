// Layers that an export writes in many nodes are themselves again when they are read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/engine/io/onnx/single_layers.h"

namespace moil::onnx {
namespace {

using ::testing::HasSubstr;

TEST(WrittenLayers, AreReadBack) {
  for (const auto& [name, model] : single_layers()) {
    SCOPED_TRACE(name);
    expect_fixed(model);
  }
}

// ONNX Runtime asks for it.
TEST(WrittenLayers, NoTwoNodesHaveOneName) {
  for (const auto& [name, model] : single_layers()) {
    std::set<std::string> names;
    for (const Node& node : export_onnx(model.description, model.weights).nodes)
      EXPECT_TRUE(names.insert(node.name).second) << name << ": " << node.name;
  }
}

TEST(WrittenLayers, SharedWeightsStayOne) {
  ImportedModel model;
  model.description.name = "m";
  model.description.inputs = {{"x", {5, 8}}};
  const Properties heads = {{"heads", std::int64_t{2}}};
  model.description.layers = {{"one", "multi_head_attention", {"x"}, heads},
                              {"two", "multi_head_attention", {"one"}, heads}};
  for (const char* weight : {"in_proj_weight", "in_proj_bias", "out_proj_weight", "out_proj_bias"})
    model.description.layers[1].shares[weight] = std::string("one.") + weight;
  model.description.outputs = {"two"};
  model.weights = varied_weights(model.description);
  ASSERT_EQ(model.weights.size(), 4U);
  expect_fixed(model);
}

// Another number somewhere, and it is what the nodes are.
TEST(WrittenLayers, OthersAreImportedNodeByNode) {
  const auto model = single_layers().at("attention of one");
  Graph graph = export_onnx(model.description, model.weights);
  graph.constants.at("some.layer.share").floats[0] *= 2;
  const Types types = types_of(import_onnx(graph));
  EXPECT_EQ(std::count(types.begin(), types.end(), "multi_head_attention"), 0);
  EXPECT_EQ(std::count(types.begin(), types.end(), "softmax"), 1);
  EXPECT_EQ(std::count(types.begin(), types.end(), "matmul"), 2);
}

TEST(WrittenLayers, WhatOthersReadOfThemIsNotLost) {
  const auto model = single_layers().at("attention of one");
  Graph graph = export_onnx(model.description, model.weights);
  graph.outputs = {{"some.layer.probabilities", {}, true}};
  const Types types = types_of(import_onnx(graph));
  EXPECT_EQ(types.back(), "softmax");
}

// But for properties at their defaults.
TEST(WrittenLayers, NetworksOfTextAreReadBack) {
  for (const char* name : {"text-transformer.json", "text-lstm.json"}) {
    SCOPED_TRACE(name);
    ImportedModel model;
    model.description = read_model(std::filesystem::path(MOIL_SOURCE_DIR) / "config/models" / name);
    model.weights = varied_weights(model.description);
    const std::string bytes = format_onnx(export_onnx(model.description, model.weights));
    const ImportedModel again = import_onnx(parse_onnx(bytes));
    EXPECT_EQ(types_of(again), types_of(model));
    ASSERT_EQ(again.weights.size(), model.weights.size());
    for (const auto& [weight, tensor] : model.weights)
      EXPECT_EQ(again.weights.at(weight).data, tensor.data) << weight;
    expect_fixed(again);
  }
}

// The table alone says that nothing is trained.
TEST(WrittenLayers, PositionsAreNoParameter) {
  const auto model = single_layers().at("positions");
  Graph graph = export_onnx(model.description, model.weights);
  EXPECT_EQ(types_of(import_onnx(graph)), Types{"positional_encoding"});
  graph.constants.begin()->second.floats[3] += 0.01F;
  EXPECT_EQ(types_of(import_onnx(graph)), Types{"add_parameter"});
}

}  // namespace
}  // namespace moil::onnx
