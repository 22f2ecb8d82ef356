#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/graph/graph.h"
#include "engine/graph/realizers/realizers.h"
#include "tests/engine/graph/models.h"

namespace moil {
namespace {

using test::ModelBuilder;
using ::testing::ElementsAre;

// "name(input, input)" of every layer.
std::vector<std::string> wiring(const ModelDescription& model) {
  std::vector<std::string> lines;
  for (const auto& layer : model.layers) {
    std::string line;
    for (const auto& input : layer.inputs) line += (line.empty() ? "" : ", ") + input;
    lines.push_back(layer.name + "(" + line + ")");
  }
  return lines;
}

TEST(CountReadersTest, CountsLayersAndOutputs) {
  ModelBuilder b({4});
  b.layer("relu", {}, {"input"}, "r").layer("add", {}, {"r", "r:0"}, "s");
  const auto readers = count_readers(b.model({"s", "r"}));
  EXPECT_EQ(readers.at("r"), 3);
  EXPECT_EQ(readers.at("s"), 1);
  EXPECT_EQ(readers.at("input"), 1);
}

TEST(PruningTest, DropsWhatNoOutputNeeds) {
  ModelBuilder b({4});
  b.fc(3).layer("relu", {}, {"fully_connected0"}, "unread").layer("tanh", {}, {"unread"}, "either");
  const ModelDescription model = b.model({"fully_connected0"});
  EXPECT_THAT(wiring(realize_pruning(model)), ElementsAre("fully_connected0(input)"));
  EXPECT_EQ(model.layers.size(), 3u);  // the argument is left alone
}

TEST(PruningTest, KeepsALayerForAnyOfItsOutputs) {
  ModelBuilder b({4});
  b.layer("multi_out", {{"outputs", std::int64_t{2}}}, {"input"}, "m")
      .layer("relu", {}, {"m:1"}, "r");
  EXPECT_THAT(wiring(realize_pruning(b.model())), ElementsAre("m(input)", "r(m:1)"));
}

TEST(InferenceTest, DropsWhatDoesNothing) {
  ModelBuilder b({4});
  b.layer("dropout").layer("identity").fc(3).layer("dropout");
  const ModelDescription result = realize_inference(b.model());
  EXPECT_THAT(wiring(result), ElementsAre("fully_connected0(input)"));
  EXPECT_THAT(result.outputs, ElementsAre("fully_connected0"));
}

TEST(InferenceTest, AModelOfDropoutAloneGivesItsInput) {
  EXPECT_THAT(realize_inference(ModelBuilder({4}).layer("dropout").model()).outputs,
              ElementsAre("input"));
}

TEST(FrozenTest, FreezesBatchNormsThatDoNotTrain) {
  const ModelDescription model = ModelBuilder({3, 4, 4}).norm().conv(2, 1).norm().model();
  const ModelDescription result = realize_frozen(model, {"batch_norm1", "conv2d0"});
  EXPECT_EQ(std::get<bool>(result.layers[0].properties.at("frozen")), true);
  EXPECT_FALSE(result.layers[1].properties.contains("frozen"));
  EXPECT_FALSE(result.layers[2].properties.contains("frozen"));
}

TEST(MultiOutTest, GivesEveryReaderItsOwnOutput) {
  ModelBuilder b({4});
  b.fc(4).relu().layer("add", {}, {"fully_connected0", "relu0"}, "s");
  const ModelDescription result = realize_multi_out(b.model({"s", "fully_connected0"}));
  EXPECT_THAT(
      wiring(result),
      ElementsAre("fully_connected0(input)", "fully_connected0/multi_out(fully_connected0)",
                  "relu0(fully_connected0/multi_out)", "s(fully_connected0/multi_out:1, relu0)"));
  EXPECT_THAT(result.outputs, ElementsAre("s", "fully_connected0/multi_out:2"));
  EXPECT_EQ(std::get<std::int64_t>(result.layers[1].properties.at("outputs")), 3);
}

TEST(MultiOutTest, AValueByTwoNamesIsOneValue) {
  ModelBuilder b({4});
  b.fc(4).layer("add", {}, {"fully_connected0", "fully_connected0:0"}, "s");
  const ModelDescription result = realize_multi_out(b.model());
  EXPECT_THAT(result.layers[2].inputs,
              ElementsAre("fully_connected0/multi_out", "fully_connected0/multi_out:1"));
}

TEST(MultiOutTest, SecondOutputsToo) {
  ModelBuilder b({4});
  b.fc(4).layer("multi_out", {{"outputs", std::int64_t{3}}}, {"fully_connected0"}, "m");
  b.layer("add", {}, {"m", "m:2"}, "a").layer("add", {}, {"a", "m:2"}, "b");
  const ModelDescription result = realize_multi_out(b.model());
  EXPECT_THAT(wiring(result),
              ElementsAre("fully_connected0(input)", "m(fully_connected0)", "m:2/multi_out(m:2)",
                          "a(m, m:2/multi_out)", "b(a, m:2/multi_out:1)"));
  EXPECT_EQ(build_graph(result, 2).nodes.size(), 5u);
}

TEST(MultiOutTest, InputsHaveNoDerivativeAndNeedNone) {
  ModelBuilder b({4});
  b.layer("add", {}, {"input", "input"}, "s");
  const ModelDescription model = b.model({"s", "input"});
  const ModelDescription result = realize_multi_out(model);
  EXPECT_THAT(wiring(result), ElementsAre("s(input, input)"));
  EXPECT_THAT(result.outputs, ElementsAre("s", "input"));
}

TEST(MultiOutTest, InferenceIsTheSame) {
  const ModelDescription model = test::residual_model();
  const WeightMap weights = test::random_weights(model, 3);
  const auto input = test::random_values(2 * 3 * 8 * 8, 4);
  EXPECT_EQ(test::infer(realize_multi_out(model), weights, 2, input),
            test::infer(model, weights, 2, input));
}

}  // namespace
}  // namespace moil
