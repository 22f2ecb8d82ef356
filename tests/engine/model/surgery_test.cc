#include "engine/model/surgery.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "engine/model/preparation.h"
#include "tests/engine/model/models.h"

namespace moil {
namespace {

using test::ModelBuilder;

// A classifier that is a 1x1 convolution, with pooling and softmax behind it.
ModelDescription convolutional_model() {
  return ModelBuilder({3, 4, 4}).conv(6, 1).layer("global_average_pool").layer("softmax").model();
}

TEST(SurgeryTest, FindsTheClassifier) {
  EXPECT_EQ(find_classifier(test::chain_model()), "fully_connected0");
  EXPECT_EQ(classifier_classes(test::chain_model()), 3);
  EXPECT_EQ(find_classifier(convolutional_model()), "conv2d0");
  EXPECT_EQ(classifier_classes(convolutional_model()), 6);
}

TEST(SurgeryTest, RefusesWhereThereIsNone) {
  EXPECT_THROW((void)find_classifier(ModelBuilder({4}).relu().model()), Error);
  EXPECT_THROW((void)find_classifier(ModelBuilder({4}).fc(3).norm().model()), Error);
  ModelBuilder sum({4});
  sum.fc(4).layer("add", {}, {"fully_connected0", "input"});
  EXPECT_THROW((void)find_classifier(sum.model()), Error);
  ModelBuilder two({4});
  two.fc(4).fc(3);
  EXPECT_THROW((void)find_classifier(two.model({"fully_connected0", "fully_connected1"})), Error);
}

TEST(SurgeryTest, OldRowsKeepTheirWeights) {
  for (const ModelDescription& before : {test::mlp_model(4, 5, 3), convolutional_model()}) {
    const WeightMap old = test::random_weights(before, 1);
    ModelDescription model = before;
    WeightMap weights = old;
    const std::int64_t classes = classifier_classes(before);
    grow_classifier(model, weights, classes + 2, 7);
    EXPECT_EQ(classifier_classes(model), classes + 2);
    check_weights(build_graph(model, 1), weights);
    for (const auto& [name, tensor] : old) {
      const auto& grown = weights.at(name).data;
      EXPECT_TRUE(std::equal(tensor.data.begin(), tensor.data.end(), grown.begin())) << name;
    }
    const auto& rows = weights.at(find_classifier(model) + ".weight");
    EXPECT_EQ(rows.dims[0], classes + 2);
    EXPECT_TRUE(std::any_of(rows.data.end() - 2, rows.data.end(), [](float x) { return x != 0; }));
    // Nothing but the seed and the layer decides about the new rows.
    ModelDescription again_model = before;
    WeightMap again = old;
    grow_classifier(again_model, again, classes + 2, 7);
    EXPECT_EQ(again.at(find_classifier(model) + ".weight").data, rows.data);
  }
}

TEST(SurgeryTest, TheSameNumberOfClassesChangesNothing) {
  ModelDescription model = test::mlp_model(4, 5, 3);
  WeightMap weights = test::random_weights(model, 1);
  const auto before = weights.at("fully_connected1.weight").data;
  grow_classifier(model, weights, 3, 7);
  EXPECT_EQ(weights.at("fully_connected1.weight").data, before);
}

TEST(SurgeryTest, RefusesToShrinkAndWeightsThatDoNotFit) {
  ModelDescription model = test::mlp_model(4, 5, 3);
  WeightMap weights = test::random_weights(model, 1);
  EXPECT_THROW(grow_classifier(model, weights, 2, 7), Error);
  weights.erase("fully_connected1.bias");
  EXPECT_THROW(grow_classifier(model, weights, 4, 7), Error);
  model = test::mlp_model(4, 5, 3);
  weights = test::random_weights(test::mlp_model(4, 5, 30), 1);
  EXPECT_THROW(grow_classifier(model, weights, 4, 7), Error);
}

TEST(SurgeryTest, ResizeMakesAFreshClassifier) {
  ModelDescription model = test::mlp_model(4, 5, 3);
  resize_classifier(model, 2);
  EXPECT_EQ(classifier_classes(model), 2);
}

// y of a fully connected model.
std::vector<float> outputs_of(const ModelDescription& model, const WeightMap& weights,
                              const std::vector<float>& x) {
  WeightMap prepared_weights = weights;
  const ModelDescription prepared = prepare_inference(model, prepared_weights);
  KernelSelector kernels = test::own_kernels();
  Network network(prepared, {.batch = 1, .plan = {}}, kernels);
  network.allocate();
  network.load(prepared_weights);
  std::copy(x.begin(), x.end(), network.input(0));
  network.forward();
  return {network.output(0), network.output(0) + network.output_info(0).dims.elements()};
}

TEST(SurgeryTest, ABatchNormBehindTheClassifierBecomesPartOfIt) {
  for (const ModelDescription& before :
       {ModelBuilder({4}).fc(5).relu().fc(3).norm().model(),
        ModelBuilder({4}).fc(5).relu().fc(3).norm().layer("softmax").model()}) {
    EXPECT_THROW((void)find_classifier(before), Error);
    const WeightMap old = test::random_weights(before, 3);
    ModelDescription model = before;
    WeightMap weights = old;
    fold_classifier_norm(model, weights);
    EXPECT_EQ(find_classifier(model), "fully_connected1");
    EXPECT_EQ(model.layers.size() + 1, before.layers.size());
    check_weights(build_graph(model, 1), weights);
    const std::vector<float> x = {0.3F, -1, 0.5F, 2};
    const auto expected = outputs_of(before, old, x), found = outputs_of(model, weights, x);
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5);
  }
}

TEST(SurgeryTest, OtherBatchNormsStay) {
  ModelDescription model =
      ModelBuilder({3, 4, 4}).conv(6, 1).norm().relu().layer("flatten").fc(3).model();
  const std::size_t layers = model.layers.size();
  WeightMap weights = test::random_weights(model, 3);
  fold_classifier_norm(model, weights);
  EXPECT_EQ(model.layers.size(), layers);
}

// A row that a final ReLU holds at 0 for every sample would never learn.
TEST(SurgeryTest, NewRowsBehindARectifierLive) {
  for (const bool bias : {true, false}) {
    ModelDescription model =
        ModelBuilder({16})
            .layer("fully_connected", {{"units", std::int64_t{3}}, {"bias", bias}})
            .relu()
            .model();
    WeightMap weights = test::random_weights(model, 5);
    grow_classifier(model, weights, 43, 7);
    for (int sample = 0; sample < 10; ++sample) {
      std::vector<float> x;  // what a layer behind a ReLU reads
      for (int i = 0; i < 16; ++i) x.push_back(static_cast<float>((sample * 7 + i * 5) % 11));
      const auto y = outputs_of(model, weights, x);
      for (std::size_t row = 3; row < y.size(); ++row) EXPECT_GT(y[row], 0) << row;
    }
  }
}

ModelDescription model_of_tables() {
  ModelDescription model{"tables", {{"ids", {2}, ElementType::kInt32}}, {}, {"sum"}};
  const Properties rows = {{"rows", std::int64_t{4}}, {"width", std::int64_t{3}}};
  model.layers = {{"one", "embedding", {"ids"}, rows},
                  {"two", "embedding", {"ids"}, rows},
                  {"sum", "add", {"one", "two"}, {}}};
  return model;
}

TEST(SurgeryTest, TablesOfTheInputGetRows) {
  ModelDescription model = model_of_tables();
  EXPECT_EQ(input_tables(model), (std::vector<std::string>{"one", "two"}));
  EXPECT_TRUE(input_tables(test::chain_model()).empty());
  model.layers[1].properties["rows"] = std::int64_t{9};
  resize_tables(model, 6);
  EXPECT_EQ(table_rows(model, "one"), 6);
  EXPECT_EQ(table_rows(model, "two"), 9) << "more than are needed";
}

TEST(SurgeryTest, TablesThatShareTheirRowsGetNone) {
  ModelDescription model = model_of_tables();
  model.layers[1].shares = {{"weight", "one.weight"}};
  EXPECT_NO_THROW(resize_tables(model, 4));
  EXPECT_THROW(resize_tables(model, 5), Error);
}

}  // namespace
}  // namespace moil
