#include <gmock/gmock.h>

#include "engine/io/model_json.h"
#include "engine/model/preparation.h"
#include "engine/model/realizers/realizers.h"
#include "tests/engine/model/models.h"
#include "tests/engine/model/realizers/support.h"

namespace moil {
namespace {

using test::equations;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ModelDescription starting_with(const Property& shape) {
  ModelDescription model{"m", {}, {}, {"b"}};
  model.layers.push_back({"a", "relu", {}, {{"input_shape", shape}}});
  model.layers.push_back({"b", "relu", {"a"}, {}});
  return model;
}

TEST(InputRealizerTest, AShapeBecomesAnInput) {
  const ModelDescription result = realize_inputs(starting_with(std::vector<std::int64_t>{3, 4, 5}));
  EXPECT_THAT(equations(result), ElementsAre("a = relu(a/input)", "b = relu(a)"));
  ASSERT_EQ(result.inputs.size(), 1u);
  EXPECT_EQ(result.inputs[0].name, "a/input");
  EXPECT_THAT(result.inputs[0].dims, ElementsAre(3, 4, 5));
  EXPECT_TRUE(result.layers[0].properties.empty());
  EXPECT_THAT(realize_inputs(starting_with(std::int64_t{7})).inputs[0].dims, ElementsAre(7));
}

TEST(InputRealizerTest, EveryFirstLayerGetsItsOwn) {
  ModelDescription model = starting_with(std::int64_t{4});
  model.layers.push_back({"c", "add", {"b", "d"}, {}});
  model.layers.push_back({"d", "tanh", {}, {{"input_shape", std::int64_t{4}}}});
  const ModelDescription result = realize_inputs(model);
  ASSERT_EQ(result.inputs.size(), 2u);
  EXPECT_EQ(result.inputs[1].name, "d/input");
}

TEST(InputRealizerTest, WhatIsNoShapeOrHasNoPlaceIsNamed) {
  const auto error = [](const ModelDescription& model) {
    return test::error_of([&] { (void)realize_inputs(model); });
  };
  for (const Property& shape :
       {Property(std::int64_t{0}), Property("3:4:5"), Property(std::vector<std::int64_t>{}),
        Property(std::vector<std::int64_t>{3, -1})}) {
    EXPECT_THAT(error(starting_with(shape)), HasSubstr("layer \"a\": property \"input_shape\""));
  }
  ModelDescription model = starting_with(std::int64_t{4});
  model.layers[1].properties["input_shape"] = std::int64_t{4};
  EXPECT_THAT(error(model), HasSubstr("layer \"b\": property \"input_shape\" is for a layer that "
                                      "names no input"));
}

// A model file in the shortest form: no input, no activation, flatten or concat layer named.
TEST(CompleteModelTest, FromAFileToTraining) {
  const ModelDescription model = complete_model(parse_model(R"({
    "format": "moil-model", "version": 1, "name": "short", "inputs": [], "layers": [
      {"name": "stem", "type": "conv2d", "inputs": [],
       "properties": {"input_shape": [1, 6, 6], "out_channels": 4, "kernel": 3,
                      "padding": 1, "activation": "relu"}},
      {"name": "side", "type": "conv2d", "inputs": ["stem"],
       "properties": {"out_channels": 2, "kernel": 1, "activation": "sigmoid"}},
      {"name": "head", "type": "fully_connected", "inputs": ["stem", "side"],
       "properties": {"units": 3, "activation": "softmax"}}],
    "outputs": ["head"]})"));
  EXPECT_THAT(equations(model),
              ElementsAre("stem = conv2d(stem/input)", "stem/activation = relu(stem)",
                          "side = conv2d(stem/activation)", "side/activation = sigmoid(side)",
                          "head/concat = concat(stem/activation, side/activation)",
                          "head/flattened_input = flatten(head/concat)",
                          "head = fully_connected(head/flattened_input)",
                          "head/activation = softmax(head)"));
  EXPECT_EQ(equations(complete_model(model)), equations(model));
  EXPECT_EQ(format_model(parse_model(format_model(model))), format_model(model));
  const auto prepared = prepare_training(model, "softmax_cross_entropy", {"stem", "side", "head"});
  EXPECT_EQ(equations(prepared).back(), "loss = softmax_cross_entropy(head, target)");
  NetworkOptions options{.batch = 4, .plan = {}};
  options.plan.training = true;
  options.plan.trainable = trainable_weights(model, nullptr);
  const WeightMap weights = test::random_weights(model, 1);
  const auto run = test::train(prepared, options, weights, 2);
  EXPECT_EQ(options.plan.trainable.size(), 6u);
  EXPECT_NE(run.tensors.at("stem.weight"), weights.at("stem.weight").data);
}

TEST(CompleteModelTest, WhatIsCompleteStaysAsItIs) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const ModelDescription model = test::random_model(seed);
    EXPECT_EQ(format_model(complete_model(model)), format_model(model)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace moil
