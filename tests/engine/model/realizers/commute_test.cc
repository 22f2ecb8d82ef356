#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/model/realizers/realizers.h"
#include "tests/engine/model/models.h"
#include "tests/engine/model/realizers/support.h"

namespace moil {
namespace {

using test::ModelBuilder;
using test::types_of;
using ::testing::ElementsAre;

const Properties kPool = {{"kernel", std::int64_t{2}}, {"stride", std::int64_t{2}}};

ModelDescription pooled(const std::string& activation) {
  ModelBuilder b({3, 8, 8});
  b.conv(6, 3)
      .layer(activation)
      .layer("max_pool", kPool)
      .conv(4, 3)
      .layer("global_average_pool")
      .fc(3);
  return b.model();
}

// Loss and gradients of one step.
using Step = std::pair<float, std::map<std::string, std::vector<float>>>;
Step step(const ModelDescription& model, bool pooling_first) {
  const ModelDescription changed = pooling_first ? realize_pooling_first(model) : model;
  const ModelDescription training =
      realize_multi_out(realize_loss(changed, "softmax_cross_entropy", {3}));
  test::GradientRecorder recorder;
  const auto run = test::train(training, test::training_options(model, 4),
                               test::random_weights(model, 3), 1, &recorder);
  return {run.losses.at(0), recorder.gradients};
}

TEST(PoolingFirst, ReluAndPoolingChangePlaces) {
  EXPECT_THAT(types_of(realize_pooling_first(pooled("relu"))),
              ElementsAre("conv2d", "max_pool", "relu", "conv2d", "global_average_pool",
                          "fully_connected"));
}

TEST(PoolingFirst, TheSameBits) {
  for (const char* activation : {"relu", "relu6"}) {
    EXPECT_EQ(step(pooled(activation), true), step(pooled(activation), false)) << activation;
  }
}

TEST(PoolingFirst, OthersStay) {
  EXPECT_EQ(types_of(realize_pooling_first(pooled("sigmoid"))), types_of(pooled("sigmoid")));
}

TEST(PoolingFirst, AnActivationThatOthersReadStays) {
  ModelBuilder b({3, 8, 8});
  b.conv(6, 3).relu();
  const std::string shared = b.last();
  b.layer("max_pool", kPool).layer("global_average_pool");
  const std::string one = b.last();
  b.layer("global_average_pool", {}, {shared});
  b.layer("add", {}, {one, b.last()}).fc(3);
  EXPECT_EQ(types_of(realize_pooling_first(b.model())), types_of(b.model()));
}

TEST(PoolingFirst, TwoPoolingsInARow) {
  ModelBuilder b({3, 8, 8});
  b.conv(6, 3)
      .relu()
      .layer("max_pool", kPool)
      .layer("max_pool", kPool)
      .layer("global_average_pool")
      .fc(3);
  const ModelDescription model = b.model();
  EXPECT_EQ(step(model, true), step(model, false));
}

TEST(PoolingFirst, AsTheModelsOutput) {
  ModelBuilder b({3, 8, 8});
  b.conv(6, 3).relu().layer("max_pool", kPool);
  const ModelDescription result = realize_pooling_first(b.model());
  EXPECT_THAT(types_of(result), ElementsAre("conv2d", "max_pool", "relu"));
  EXPECT_THAT(result.outputs, ElementsAre("relu0"));
}

}  // namespace
}  // namespace moil
