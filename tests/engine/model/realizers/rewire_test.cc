#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/model/graph.h"
#include "engine/model/realizers/realizers.h"
#include "tests/engine/model/models.h"
#include "tests/engine/model/realizers/support.h"

namespace moil {
namespace {

using test::equations;
using test::ModelBuilder;
using ::testing::ElementsAre;

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
  EXPECT_THAT(equations(realize_pruning(model)),
              ElementsAre("fully_connected0 = fully_connected(input)"));
  EXPECT_EQ(model.layers.size(), 3u);  // the argument is left alone
}

TEST(PruningTest, KeepsALayerForAnyOfItsOutputs) {
  ModelBuilder b({4});
  b.layer("multi_out", {{"outputs", std::int64_t{2}}}, {"input"}, "m")
      .layer("relu", {}, {"m:1"}, "r");
  EXPECT_THAT(equations(realize_pruning(b.model())),
              ElementsAre("m = multi_out(input)", "r = relu(m:1)"));
}

TEST(InferenceTest, DropsWhatDoesNothing) {
  ModelBuilder b({4});
  b.layer("dropout").layer("identity").fc(3).layer("dropout");
  const ModelDescription result = realize_inference(b.model());
  EXPECT_THAT(equations(result), ElementsAre("fully_connected0 = fully_connected(input)"));
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
  EXPECT_THAT(equations(result),
              ElementsAre("fully_connected0 = fully_connected(input)",
                          "fully_connected0/multi_out = multi_out(fully_connected0)",
                          "relu0 = relu(fully_connected0/multi_out)",
                          "s = add(fully_connected0/multi_out:1, relu0)"));
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
  EXPECT_THAT(equations(result),
              ElementsAre("fully_connected0 = fully_connected(input)",
                          "m = multi_out(fully_connected0)", "m:2/multi_out = multi_out(m:2)",
                          "a = add(m, m:2/multi_out)", "b = add(a, m:2/multi_out:1)"));
  EXPECT_EQ(build_graph(result, 2).nodes.size(), 5u);
}

// From five on each reader finds the rest of them behind it.
TEST(MultiOutTest, ManyReadersOneAfterTheOther) {
  ModelBuilder b({4});
  b.fc(4);
  for (int i = 0; i < 5; ++i) {
    b.layer("add", {}, {"fully_connected0", i == 0 ? "input" : b.last()});
  }
  const ModelDescription result = realize_multi_out(b.model());
  EXPECT_THAT(
      equations(result),
      ElementsAre("fully_connected0 = fully_connected(input)",
                  "fully_connected0/multi_out = multi_out(fully_connected0)",
                  "add0 = add(fully_connected0/multi_out, input)",
                  "fully_connected0/multi_out_2 = multi_out(fully_connected0/multi_out:1)",
                  "add1 = add(fully_connected0/multi_out_2, add0)",
                  "fully_connected0/multi_out_3 = multi_out(fully_connected0/multi_out_2:1)",
                  "add2 = add(fully_connected0/multi_out_3, add1)",
                  "fully_connected0/multi_out_4 = multi_out(fully_connected0/multi_out_3:1)",
                  "add3 = add(fully_connected0/multi_out_4, add2)",
                  "add4 = add(fully_connected0/multi_out_4:1, add3)"));
}

// A memory that every step of a decoder looks at: its derivatives do not wait for one another.
TEST(MultiOutTest, ManyReadersTakeTheMemoryOfFew) {
  const auto bytes = [](int readers) {
    ModelBuilder b({1024});
    const std::string memory = b.fc(1024).last();
    std::string sum = b.layer("slice", {{"length", std::int64_t{8}}}).last();
    for (int i = 1; i < readers; ++i) {
      const std::int64_t start = i;
      b.layer("slice", {{"start", start}, {"length", std::int64_t{8}}}, {memory});
      sum = b.layer("add", {}, {sum, b.last()}).last();
    }
    b.fc(3);
    KernelSelector kernels = test::fixed_kernels();
    const NetworkOptions options = test::training_options(b.model(), 64);
    return plan_network(build_graph(test::prepared(b.model()), 64), options.plan, kernels)
        .memory.total_bytes;
  };
  EXPECT_LT(bytes(100), bytes(5) + 100 * 64 * 8 * sizeof(float));
}

TEST(MultiOutTest, InputsHaveNoDerivativeAndNeedNone) {
  ModelBuilder b({4});
  b.layer("add", {}, {"input", "input"}, "s");
  const ModelDescription model = b.model({"s", "input"});
  const ModelDescription result = realize_multi_out(model);
  EXPECT_THAT(equations(result), ElementsAre("s = add(input, input)"));
  EXPECT_THAT(result.outputs, ElementsAre("s", "input"));
}

}  // namespace
}  // namespace moil
