#include "engine/model/preparation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/model/graph.h"
#include "tests/engine/model/models.h"

namespace moil {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

TEST(PrepareTrainingTest, PrunesFreezesAppendsTheLossAndSplitsFanOuts) {
  test::ModelBuilder b({3, 4, 4});
  b.conv(4, 3).norm().layer("add", {}, {"batch_norm0", "conv2d0"}).layer("flatten").fc(3);
  b.layer("relu", {}, {"conv2d0"}, "unread");
  const ModelDescription result = prepare_training(b.model({"fully_connected0"}),
                                                   "softmax_cross_entropy", {"fully_connected0"});
  std::vector<std::string> names;
  for (const auto& layer : result.layers) names.push_back(layer.name);
  EXPECT_THAT(names, ElementsAre("conv2d0", "conv2d0/multi_out", "batch_norm0", "add0", "flatten0",
                                 "fully_connected0", "loss"));
  EXPECT_TRUE(std::get<bool>(result.layers[2].properties.at("frozen")));
  EXPECT_THAT(result.outputs, ElementsAre("loss"));
  EXPECT_THAT(result.inputs[1].dims, ElementsAre(3));
  EXPECT_EQ(build_graph(result, 2).nodes.size(), 7u);
}

TEST(PrepareInferenceTest, DropsFoldsAndFuses) {
  const ModelDescription model = test::chain_model();
  WeightMap weights = test::random_weights(model, 1);
  const ModelDescription result = prepare_inference(model, weights);
  std::vector<std::string> names;
  for (const auto& layer : result.layers) names.push_back(layer.name);
  EXPECT_THAT(names,
              ElementsAre("conv2d0", "conv2d1", "max_pool0", "flatten0", "fully_connected0"));
  EXPECT_EQ(weights.size(), 6u);
}

TEST(TrainableWeightsTest, OfTheLayersNamed) {
  const ModelDescription model = test::chain_model();
  const std::set<std::string> layers{"batch_norm0", "fully_connected0", "relu0"};
  EXPECT_THAT(trainable_weights(model, &layers),
              UnorderedElementsAre("batch_norm0.gamma", "batch_norm0.beta",
                                   "fully_connected0.weight", "fully_connected0.bias"));
  EXPECT_EQ(trainable_weights(model, nullptr).size(), 8u);
}

TEST(TrainableWeightsTest, OfWhatAnOutputNeeds) {
  test::ModelBuilder b({4});
  b.fc(3).layer("fully_connected", {{"units", std::int64_t{2}}}, {"input"}, "unread");
  EXPECT_THAT(trainable_weights(b.model({"fully_connected0"}), nullptr),
              UnorderedElementsAre("fully_connected0.weight", "fully_connected0.bias"));
}

}  // namespace
}  // namespace moil
