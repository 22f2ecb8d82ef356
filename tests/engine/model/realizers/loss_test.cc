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

TEST(LossTest, BecomesTheOnlyOutput) {
  const ModelDescription result =
      realize_loss(ModelBuilder({4}).fc(3).model(), "softmax_cross_entropy", {3});
  EXPECT_THAT(equations(result),
              ElementsAre("fully_connected0 = fully_connected(input)",
                          "loss = softmax_cross_entropy(fully_connected0, target)"));
  EXPECT_THAT(result.outputs, ElementsAre("loss"));
  ASSERT_EQ(result.inputs.size(), 2u);
  EXPECT_EQ(result.inputs[1].name, "target");
  EXPECT_THAT(result.inputs[1].dims, ElementsAre(3));
}

TEST(LossTest, NeedsOneOutput) {
  ModelBuilder b({4});
  b.fc(3).relu();
  EXPECT_THROW((void)realize_loss(b.model({"fully_connected0", "relu0"}), "mse", {3}), Error);
}

TEST(LossTest, TakesThePlaceOfTheActivationThatItHasInside) {
  const auto losses = [](const std::string& activation, const std::string& loss) {
    return equations(
        realize_loss(ModelBuilder({4}).layer("tanh").layer(activation).model(), loss, {4}));
  };
  EXPECT_THAT(losses("softmax", "softmax_cross_entropy"),
              ElementsAre("tanh0 = tanh(input)", "loss = softmax_cross_entropy(tanh0, target)"));
  EXPECT_THAT(losses("sigmoid", "sigmoid_cross_entropy"),
              ElementsAre("tanh0 = tanh(input)", "loss = sigmoid_cross_entropy(tanh0, target)"));
  EXPECT_EQ(losses("sigmoid", "softmax_cross_entropy").size(), 3u);
  EXPECT_EQ(losses("softmax", "mse").size(), 3u);
}

TEST(LossTest, LeavesAnActivationThatOthersRead) {
  ModelBuilder b({4});
  b.fc(4).layer("softmax", {}, {}, "s").layer("relu", {}, {"s"});
  EXPECT_THAT(
      equations(realize_loss(b.model({"s"}), "softmax_cross_entropy", {4})),
      ElementsAre("fully_connected0 = fully_connected(input)", "s = softmax(fully_connected0)",
                  "relu0 = relu(s)", "loss = softmax_cross_entropy(fully_connected0, target)"));
}

TEST(LossTest, ReadsWhatTheSigmoidsReadBehindAFlatten) {
  ModelBuilder b({3, 2, 2});
  b.conv(4, 1).layer("global_average_pool", {{"keep_dims", true}}, {}, "pool");
  b.layer("sigmoid").layer("flatten", {}, {}, "flat");
  EXPECT_THAT(equations(realize_loss(b.model(), "sigmoid_cross_entropy", {4})),
              ElementsAre("conv2d0 = conv2d(input)", "pool = global_average_pool(conv2d0)",
                          "flat = flatten(pool)", "loss = sigmoid_cross_entropy(flat, target)"));
}

// A model may call its layers and inputs what it likes: what is added is called otherwise.
TEST(LossTest, NamesOfTheModelsOwnDoNotCollide) {
  ModelBuilder b({4});
  b.layer("fully_connected", {{"units", std::int64_t{3}}}, {}, "loss");
  b.layer("tanh", {}, {"loss"}, "target").layer("sigmoid", {}, {"loss"}, "loss/multi_out");
  b.layer("multiply", {}, {"target", "loss/multi_out"}, "loss_2");
  const ModelDescription trained = prepare_training(b.model(), "softmax_cross_entropy", {"loss"});
  EXPECT_THAT(trained.outputs, ElementsAre("loss_3"));
  EXPECT_EQ(trained.inputs[1].name, "target_2");
  const Graph graph = build_graph(trained, 2);
  EXPECT_EQ(graph.nodes.size(), 6u);
}

}  // namespace
}  // namespace moil
