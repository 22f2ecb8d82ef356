#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "engine/model/preparation.h"
#include "engine/model/realizers/realizers.h"
#include "tests/engine/model/models.h"
#include "tests/engine/model/realizers/support.h"

namespace moil {
namespace {

using test::ModelBuilder;
using test::types_of;
using ::testing::ElementsAre;

void expect_near(const std::vector<float>& a, const std::vector<float>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], tolerance * std::max(1.0F, std::abs(b[i]))) << i;
}

// Folding changes the layers to these, and no output by more than rounding.
void expect_folds(const ModelDescription& model, std::int64_t input_elements,
                  const std::vector<std::string>& expected) {
  WeightMap weights = test::random_weights(model, 5);
  const auto input = test::random_values(2 * input_elements, 6);
  const auto before = test::infer(model, weights, 2, input);
  const ModelDescription result = realize_batch_norm_folding(model, weights);
  EXPECT_EQ(types_of(result), expected);
  expect_near(test::infer(result, weights, 2, input), before, 1e-5);
}

TEST(BatchNormFoldingTest, IntoLayersWithWeights) {
  expect_folds(ModelBuilder({3, 6, 6}).conv(4, 3).norm().relu().conv(5, 1).norm().model(),
               3 * 6 * 6, {"conv2d", "relu", "conv2d"});
  // Depthwise and grouped.
  expect_folds(ModelBuilder({4, 6, 6}).conv(4, 3, 1, 4).norm().conv(6, 3, 2, 2).norm().model(),
               4 * 6 * 6, {"conv2d", "conv2d"});
  expect_folds(ModelBuilder({7}).fc(5).norm().layer("tanh").fc(3).norm().model(), 7,
               {"fully_connected", "tanh", "fully_connected"});
  // One behind the other.
  expect_folds(ModelBuilder({3, 4, 4}).conv(4, 3).norm().norm().model(), 3 * 4 * 4, {"conv2d"});
}

TEST(BatchNormFoldingTest, GivesALayerWithoutBiasOne) {
  const ModelDescription model =
      ModelBuilder({3, 4, 4})
          .layer("conv2d",
                 {{"out_channels", std::int64_t{4}}, {"kernel", std::int64_t{1}}, {"bias", false}})
          .layer("batch_norm", {{"epsilon", 0.1}})
          .model();
  expect_folds(model, 3 * 4 * 4, {"conv2d"});
  WeightMap weights = test::random_weights(model, 5);
  const WeightMap clean = weights;
  weights["conv2d0.bias"] = {{4}, {9, 9, 9, 9}};  // of a model that had one
  WeightMap same = clean;
  (void)realize_batch_norm_folding(model, weights);
  (void)realize_batch_norm_folding(model, same);
  EXPECT_EQ(weights.at("conv2d0.bias").data, same.at("conv2d0.bias").data);
}

TEST(BatchNormFoldingTest, TakesTheNormsWeightsAway) {
  const ModelDescription model = ModelBuilder({3, 4, 4}).conv(4, 3).norm().model();
  WeightMap weights = test::random_weights(model, 5);
  (void)realize_batch_norm_folding(model, weights);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : weights) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("conv2d0.bias", "conv2d0.weight"));
}

TEST(BatchNormFoldingTest, NotWhereSomebodyElseReadsTheConvolution) {
  ModelBuilder b({3, 4, 4});
  b.conv(4, 3).norm();
  expect_folds(b.model({"batch_norm0", "conv2d0"}), 3 * 4 * 4, {"conv2d", "batch_norm"});
  b.layer("add", {}, {"batch_norm0", "conv2d0"});
  expect_folds(b.model(), 3 * 4 * 4, {"conv2d", "batch_norm", "add"});
}

TEST(BatchNormFoldingTest, NotBehindAnActivation) {
  expect_folds(ModelBuilder({3, 4, 4}).conv(4, 3).relu().norm().model(), 3 * 4 * 4,
               {"conv2d", "relu", "batch_norm"});
  expect_folds(ModelBuilder({3, 4, 4}).norm().conv(4, 3).model(), 3 * 4 * 4,
               {"batch_norm", "conv2d"});
}

TEST(BatchNormFoldingTest, WeightsThatAreMissingOrDoNotFit) {
  const ModelDescription model = ModelBuilder({3, 4, 4}).conv(4, 3).norm().model();
  for (const char* name : {"conv2d0.weight", "conv2d0.bias", "batch_norm0.running_var"}) {
    WeightMap weights = test::random_weights(model, 5);
    weights.erase(name);
    EXPECT_THROW((void)realize_batch_norm_folding(model, weights), Error) << name;
    weights = test::random_weights(model, 5);
    weights.at(name) = {{3}, {1, 2, 3}};
    EXPECT_THROW((void)realize_batch_norm_folding(model, weights), Error) << name;
  }
}

TEST(ActivationFusionTest, IntoConvolutionsAndFullyConnectedLayers) {
  const ModelDescription model =
      ModelBuilder({3, 4, 4}).conv(4, 3).relu().layer("flatten").fc(5).layer("relu6").model();
  const ModelDescription result = realize_activation_fusion(model);
  EXPECT_THAT(types_of(result), ElementsAre("conv2d", "flatten", "fully_connected"));
  EXPECT_EQ(std::get<std::string>(result.layers[0].properties.at("activation")), "relu");
  EXPECT_EQ(std::get<std::string>(result.layers[2].properties.at("activation")), "relu6");
  EXPECT_THAT(result.outputs, ElementsAre("fully_connected0"));
}

TEST(ActivationFusionTest, OneActivationALayerAndNoOtherThanRelus) {
  EXPECT_THAT(
      types_of(realize_activation_fusion(ModelBuilder({4}).fc(3).relu().layer("relu6").model())),
      ElementsAre("fully_connected", "relu6"));
  EXPECT_THAT(types_of(realize_activation_fusion(ModelBuilder({4}).fc(3).layer("tanh").model())),
              ElementsAre("fully_connected", "tanh"));
  ModelBuilder read_twice({4});
  read_twice.fc(3).relu();
  EXPECT_THAT(types_of(realize_activation_fusion(read_twice.model({"relu0", "fully_connected0"}))),
              ElementsAre("fully_connected", "relu"));
}

TEST(PrepareInferenceTest, RandomNetworksComputeTheSame) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ModelDescription model = test::random_model(seed);
    WeightMap weights = test::random_weights(model, seed);
    std::int64_t elements = 3;
    for (const auto d : model.inputs[0].dims) elements *= d;
    const auto input = test::random_values(elements, seed);
    const auto before = test::infer(model, weights, 3, input);
    const ModelDescription result = prepare_inference(model, weights);
    expect_near(test::infer(result, weights, 3, input), before, 2e-4);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace moil
