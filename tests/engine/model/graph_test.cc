#include "engine/model/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/model/models.h"
#include "tests/errors.h"

namespace moil {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names(const std::vector<LayerDescription>& layers) {
  std::vector<std::string> result;
  for (const auto& layer : layers) result.push_back(layer.name);
  return result;
}

// What build_graph says against this model; empty if it accepts it.
std::string refusal(const ModelDescription& model) {
  return test::error_of([&] { (void)build_graph(model, 2); });
}

ModelDescription model_of(std::vector<LayerDescription> layers, std::vector<std::string> outputs) {
  ModelDescription model;
  model.name = "m";
  model.inputs = {{"x", {4}}};
  model.layers = std::move(layers);
  model.outputs = std::move(outputs);
  return model;
}

TEST(GraphTest, KnowsShapesProducersAndConsumers) {
  const Graph graph = build_graph(test::residual_model(), 5);
  const Value& stem = graph.values[1];
  EXPECT_EQ(stem.name, "conv2d0");
  EXPECT_EQ(stem.info.dims, (Dims{5, 8, 8, 8}));
  EXPECT_EQ(stem.info.layout, Layout::kChannelsLast);
  EXPECT_EQ(stem.producer, 0);
  const Value& skip = graph.values[3];
  EXPECT_EQ(skip.name, "relu0");
  ASSERT_EQ(skip.consumers.size(), 2u);
  EXPECT_EQ(graph.nodes[static_cast<std::size_t>(skip.consumers[1].node)].name, "add0");
  EXPECT_EQ(skip.consumers[1].slot, 1);
  EXPECT_EQ(graph.values[static_cast<std::size_t>(graph.outputs[0])].info.dims, (Dims{5, 3}));
  EXPECT_EQ(graph.values[static_cast<std::size_t>(graph.inputs[0])].info.dims, (Dims{5, 3, 8, 8}));
}

TEST(GraphTest, OrderFollowsTheDescriptionWhereItMay) {
  const auto model = model_of({{"c", "add", {"a", "b"}, {}},
                               {"b", "relu", {"x"}, {}},
                               {"a", "relu", {"x"}, {}},
                               {"d", "relu", {"x"}, {}}},
                              {"c"});
  EXPECT_THAT(names(topological_order(model)), ElementsAre("b", "a", "c", "d"));
}

TEST(GraphTest, AValueHasOneName) {
  EXPECT_EQ(split_value_name("a:1"), std::pair(std::string("a"), 1));
  EXPECT_EQ(split_value_name("a"), std::pair(std::string("a"), 0));
  for (const int slot : {9, 999, 1000, 4999, 999'999})
    EXPECT_EQ(split_value_name("a:" + std::to_string(slot)), std::pair(std::string("a"), slot));
  EXPECT_EQ(split_value_name("a:1000000"), std::pair(std::string("a:1000000"), 0));
  EXPECT_EQ(split_value_name("a:b"), std::pair(std::string("a:b"), 0));
  EXPECT_EQ(split_value_name("a:"), std::pair(std::string("a:"), 0));
  EXPECT_EQ(value_name("a:0"), "a");
  EXPECT_EQ(value_name("a:2"), "a:2");
  const auto model = model_of({{"a", "relu", {"x:0"}, {}}, {"b", "relu", {"a:0"}, {}}}, {"b:0"});
  EXPECT_EQ(refusal(model), "");
}

TEST(GraphTest, SecondOutputs) {
  const auto model = model_of(
      {{"m", "multi_out", {"x"}, {{"outputs", std::int64_t{3}}}}, {"s", "add", {"m:2", "m:1"}, {}}},
      {"s"});
  const Graph graph = build_graph(model, 2);
  EXPECT_EQ(graph.values[3].name, "m:2");
  EXPECT_EQ(graph.values[3].producer_slot, 2);
  EXPECT_THAT(graph.nodes[1].inputs, ElementsAre(3, 2));
}

TEST(GraphTest, RefusesNamesTwice) {
  EXPECT_THAT(refusal(model_of({{"a", "relu", {"x"}, {}}, {"a", "relu", {"x"}, {}}}, {"a"})),
              HasSubstr("\"a\" is defined twice"));
  EXPECT_THAT(refusal(model_of({{"x", "relu", {"x"}, {}}}, {"x"})),
              HasSubstr("\"x\" is defined twice"));
  ModelDescription model = model_of({{"a", "relu", {"x"}, {}}}, {"a"});
  model.inputs.push_back(model.inputs[0]);
  EXPECT_THAT(refusal(model), HasSubstr("input \"x\" is defined twice"));
}

TEST(GraphTest, RefusesUnknownNames) {
  EXPECT_THAT(refusal(model_of({{"a", "relu", {"y"}, {}}}, {"a"})),
              HasSubstr("layer \"a\": no layer or input gives \"y\""));
  EXPECT_THAT(refusal(model_of({{"a", "relu", {"x"}, {}}, {"b", "relu", {"a:1"}, {}}}, {"b"})),
              HasSubstr("no layer or input gives \"a:1\""));
  EXPECT_THAT(refusal(model_of({{"a", "relu", {"x"}, {}}}, {"b"})), HasSubstr("gives \"b\""));
  EXPECT_THAT(refusal(model_of({{"a", "relu", {"x"}, {}}}, {})), HasSubstr("names no output"));
}

TEST(GraphTest, RefusesCycles) {
  EXPECT_THAT(refusal(model_of({{"a", "add", {"x", "b"}, {}}, {"b", "relu", {"a"}, {}}}, {"b"})),
              HasSubstr("cycle"));
}

TEST(GraphTest, NamesTheLayerThatDoesNotFit) {
  EXPECT_THAT(refusal(model_of({{"a", "warp", {"x"}, {}}}, {"a"})), HasSubstr("\"a\""));
  EXPECT_THAT(refusal(model_of({{"a", "relu", {"x"}, {{"slop", 0.1}}}}, {"a"})), HasSubstr("slop"));
  EXPECT_THAT(refusal(model_of({{"narrow", "fully_connected", {"x"}, {{"units", std::int64_t{3}}}},
                                {"sum", "add", {"x", "narrow"}, {}}},
                               {"sum"})),
              HasSubstr("\"sum\""));
}

}  // namespace
}  // namespace moil
