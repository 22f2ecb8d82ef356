// Convolutions along a sequence inside networks.
#include <gtest/gtest.h>

#include "engine/model/preparation.h"
#include "tests/engine/model/models.h"

namespace moil {
namespace {

// As a decoder's last layers have it: norms by channel between convolutions, one depthwise.
ModelDescription postnet() {
  const auto along = [](std::int64_t channels, std::int64_t groups) {
    return Properties{{"out_channels", channels},
                      {"kernel", std::int64_t{5}},
                      {"padding", std::int64_t{2}},
                      {"groups", groups}};
  };
  test::ModelBuilder b({12, 5});
  b.layer("conv1d", along(8, 1)).norm().relu();
  b.layer("conv1d", along(8, 8)).norm().layer("tanh");
  return b.layer("conv1d", along(4, 1)).layer("flatten").fc(3).model();
}

TEST(Conv1dTest, TakesNormsAndActivationsInAtInference) {
  const ModelDescription model = postnet();
  WeightMap weights = test::random_weights(model, 1);
  const std::vector<float> x = test::random_values(std::int64_t{3} * 12 * 5, 2);
  const std::vector<float> plain = test::infer(model, weights, 3, x);
  const ModelDescription prepared = prepare_inference(model, weights);
  std::string types;
  for (const LayerDescription& layer : prepared.layers) types += layer.type + " ";
  EXPECT_EQ(types, "conv1d conv1d tanh conv1d flatten fully_connected ");
  const std::vector<float> folded = test::infer(prepared, weights, 3, x);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(folded[i], plain[i], 1e-5);
}

TEST(Conv1dTest, TrainsWithAndWithoutSharedMemory) {
  const ModelDescription prepared = test::prepared(postnet());
  NetworkOptions options = test::training_options(postnet(), 4);
  const WeightMap weights = test::random_weights(postnet(), 2);
  const auto expected = test::train(prepared, options, weights, 3);
  EXPECT_LT(expected.losses.back(), 100);
  options.plan.share_memory = false;
  EXPECT_TRUE(test::train(prepared, options, weights, 3) == expected);
}

}  // namespace
}  // namespace moil
