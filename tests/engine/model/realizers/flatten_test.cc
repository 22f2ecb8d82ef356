#include <gmock/gmock.h>

#include "engine/model/graph.h"
#include "engine/model/preparation.h"
#include "engine/model/realizers/realizers.h"
#include "tests/engine/model/models.h"
#include "tests/engine/model/realizers/support.h"

namespace moil {
namespace {

using test::equations;
using test::ModelBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(FlattenRealizerTest, APropertyBecomesALayer) {
  const ModelDescription result = realize_flatten(
      ModelBuilder({3, 4, 4}).layer("relu", {{"flatten", true}}, {}, "a").relu().model());
  EXPECT_THAT(equations(result),
              ElementsAre("a = relu(input)", "a/flatten = flatten(a)", "relu0 = relu(a/flatten)"));
  const ModelDescription not_asked =
      realize_flatten(ModelBuilder({3, 4, 4}).layer("relu", {{"flatten", false}}).model());
  EXPECT_THAT(equations(not_asked), ElementsAre("relu0 = relu(input)"));
  EXPECT_TRUE(not_asked.layers[0].properties.empty());
}

TEST(FlattenRealizerTest, AFullyConnectedLayerBehindAnImageGetsOneBeforeIt) {
  const ModelDescription model = ModelBuilder({3, 4, 4}).conv(2, 3).fc(5).fc(3).model();
  const ModelDescription result = realize_flatten(model);
  EXPECT_THAT(
      equations(result),
      ElementsAre("conv2d0 = conv2d(input)", "fully_connected0/flattened_input = flatten(conv2d0)",
                  "fully_connected0 = fully_connected(fully_connected0/flattened_input)",
                  "fully_connected1 = fully_connected(fully_connected0)"));
  EXPECT_EQ(build_graph(result, 2).nodes[2].weights[0].dims, (Dims{5, 32}));
}

TEST(FlattenRealizerTest, VectorsAndSequencesStayAsTheyAre) {
  for (const std::vector<std::int64_t>& dims :
       {std::vector<std::int64_t>{6}, std::vector<std::int64_t>{5, 6}}) {
    const ModelDescription model = ModelBuilder(dims).fc(3).model();
    EXPECT_EQ(equations(realize_flatten(model)), equations(model));
  }
}

TEST(FlattenRealizerTest, LayersInAnyOrderStayInIt) {
  ModelDescription model = ModelBuilder({3, 4, 4}).conv(2, 3).fc(3).model();
  std::swap(model.layers[0], model.layers[1]);
  EXPECT_THAT(equations(realize_flatten(model)),
              ElementsAre("fully_connected0/flattened_input = flatten(conv2d0)",
                          "fully_connected0 = fully_connected(fully_connected0/flattened_input)",
                          "conv2d0 = conv2d(input)"));
}

TEST(FlattenRealizerTest, ErrorsNameTheLayer) {
  const auto error = [](const ModelDescription& model) {
    return test::error_of([&] { (void)realize_flatten(model); });
  };
  EXPECT_THAT(error(ModelBuilder({4}).layer("relu", {{"flatten", "yes"}}).model()),
              HasSubstr("layer \"relu0\": property \"flatten\" must be true or false"));
  EXPECT_THAT(error(ModelBuilder({4}).conv(2, 3).model()), HasSubstr("layer \"conv2d0\" (conv2d)"));
  EXPECT_THAT(error(ModelBuilder({4}).relu().layer("tanh", {}, {"relu0:3"}).model()),
              HasSubstr("layer \"tanh0\": no layer or input gives \"relu0:3\""));
}

TEST(FlattenRealizerTest, TakesTheActivationsResult) {
  ModelBuilder b({3, 4, 4});
  b.layer("relu", {{"flatten", true}, {"activation", "softmax"}}, {}, "a").fc(3);
  EXPECT_THAT(equations(complete_model(b.model())),
              ElementsAre("a = relu(input)", "a/activation = softmax(a)",
                          "a/activation/flatten = flatten(a/activation)",
                          "fully_connected0 = fully_connected(a/activation/flatten)"));
}

}  // namespace
}  // namespace moil
