#include "engine/model/freeze.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/io/model_json.h"
#include "engine/model/graph.h"
#include "engine/model/preparation.h"
#include "engine/model/realizers/realizers.h"
#include "tests/engine/model/models.h"

namespace moil {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

using Unit = std::vector<std::string>;
using Dims3 = std::vector<std::int64_t>;

ModelDescription shipped(const std::string& name) {
  return read_model(std::filesystem::path(MOIL_SOURCE_DIR) / "config/models" / (name + ".json"));
}

// The model with batch norms folded and activations fused, as the daemon may be given it.
ModelDescription folded(const ModelDescription& model) {
  WeightMap weights = test::random_weights(model, 1);
  return prepare_inference(model, weights);
}

TEST(FreezeTest, AUnitIsALayerWithItsBatchNorm) {
  EXPECT_THAT(
      weight_units(test::chain_model()),
      ElementsAre(Unit{"conv2d0", "batch_norm0"}, Unit{"conv2d1"}, Unit{"fully_connected0"}));
  EXPECT_THAT(weight_units(test::residual_model()),
              ElementsAre(Unit{"conv2d0", "batch_norm0"}, Unit{"conv2d1", "batch_norm1"},
                          Unit{"conv2d2", "batch_norm2"}, Unit{"fully_connected0"},
                          Unit{"fully_connected1"}));
}

TEST(FreezeTest, ABatchNormOfItsOwnIsAUnit) {
  const auto model = test::ModelBuilder({3, 6, 6}).norm().conv(4, 3).relu().norm().norm().model();
  EXPECT_THAT(weight_units(model), ElementsAre(Unit{"batch_norm0"}, Unit{"conv2d0"},
                                               Unit{"batch_norm1"}, Unit{"batch_norm2"}));
}

TEST(FreezeTest, LayersThatNoOutputNeedsDoNotCount) {
  test::ModelBuilder b({4});
  b.fc(3).layer("fully_connected", {{"units", std::int64_t{5}}}, {"input"}, "unread");
  const auto model = b.model({"fully_connected0"});
  EXPECT_THAT(weight_units(model), ElementsAre(Unit{"fully_connected0"}));
  EXPECT_EQ(freeze_all_but_last(model, 1).split, "");
}

TEST(FreezeTest, Chain) {
  const auto model = test::chain_model();
  const Freeze last = freeze_all_but_last(model, 1);
  EXPECT_THAT(last.trainable_layers, ElementsAre("fully_connected0"));
  EXPECT_EQ(last.split, "flatten0");  // before the dropout
  EXPECT_EQ(last.split_dims, (Dims3{16}));
  EXPECT_EQ(last.trained_units, 1);
  EXPECT_EQ(last.total_units, 3);
  const Freeze two = freeze_all_but_last(model, 2);
  EXPECT_THAT(two.trainable_layers, UnorderedElementsAre("conv2d1", "fully_connected0"));
  EXPECT_EQ(two.split, "relu0");
  EXPECT_EQ(two.split_dims, (Dims3{8, 8, 8}));
}

TEST(FreezeTest, BatchNormsMayStayAsTheyAre) {
  const auto model = test::residual_model();
  const Freeze with = freeze_all_but_last(model, 4);
  Freeze without = with;
  freeze_batch_norms(model, without);
  EXPECT_TRUE(with.trainable_layers.contains("batch_norm1"));
  EXPECT_FALSE(without.trainable_layers.contains("batch_norm1"));
  EXPECT_TRUE(without.trainable_layers.contains("conv2d1"));
  EXPECT_EQ(without.split, with.split);
  EXPECT_EQ(without.trained_units, with.trained_units);
}

TEST(FreezeTest, NoneAndAll) {
  const auto model = test::chain_model();
  const Freeze none = freeze_all_but_last(model, 0);
  EXPECT_THAT(none.trainable_layers, IsEmpty());
  EXPECT_EQ(none.split, "fully_connected0");
  EXPECT_EQ(none.split_dims, (Dims3{3}));
  for (const std::optional<int> n : {std::optional<int>(), {3}, {99}}) {
    const Freeze all = freeze_all_but_last(model, n);
    EXPECT_EQ(all.trainable_layers.size(), 4u);
    EXPECT_EQ(all.split, "");
    EXPECT_EQ(all.trained_units, 3);
  }
  EXPECT_EQ(freeze_all_but_last(model, -5).trained_units, 0);
}

TEST(FreezeTest, ASkipConnectionMovesTheCutBeforeItsBlock) {
  const auto model = test::residual_model();
  EXPECT_EQ(freeze_all_but_last(model, 1).split, "global_average_pool1");
  EXPECT_EQ(freeze_all_but_last(model, 2).split, "relu2");
  const Freeze inside = freeze_all_but_last(model, 3);  // the block's second convolution trains
  EXPECT_EQ(inside.split, "relu0");
  EXPECT_THAT(
      inside.trainable_layers,
      UnorderedElementsAre("conv2d2", "batch_norm2", "fully_connected0", "fully_connected1"));
  EXPECT_EQ(freeze_all_but_last(model, 4).split, "relu0");
}

TEST(FreezeTest, NoBackboneWhereATrainedLayerReadsTheInputBesides) {
  test::ModelBuilder b({4});
  b.fc(4).relu().layer("concat", {}, {"relu0", "input"}).fc(3);
  const Freeze freeze = freeze_all_but_last(b.model(), 1);
  EXPECT_EQ(freeze.split, "concat0");
  test::ModelBuilder c({4});
  c.fc(4).fc(4).layer("add", {}, {"fully_connected1", "input"});
  EXPECT_EQ(freeze_all_but_last(c.model(), 1).split, "");
}

TEST(FreezeTest, TheCutStandsBeforeEveryDropoutBehindTheFrozenWeights) {
  test::ModelBuilder b({4});
  b.fc(5).layer("dropout").relu().layer("dropout").fc(3);
  EXPECT_EQ(freeze_all_but_last(b.model(), 1).split, "fully_connected0");
  test::ModelBuilder c({4});  // this one belongs to the frozen part
  c.fc(5).layer("dropout").fc(6).relu().fc(3);
  EXPECT_EQ(freeze_all_but_last(c.model(), 1).split, "relu0");
}

TEST(FreezeTest, MobileNetV2) {
  const auto model = shipped("mobilenet_v2");
  const Freeze last = freeze_all_but_last(model, 1);
  EXPECT_EQ(last.total_units, 53);
  EXPECT_EQ(last.split_dims, (Dims3{1280}));  // pooled, before the dropout
  EXPECT_EQ(last.trainable_layers.size(), 1u);
  const Freeze two = freeze_all_but_last(model, 2);  // the last 1x1 convolution and its norm
  EXPECT_EQ(two.trainable_layers.size(), 3u);
  EXPECT_EQ(two.split_dims, (Dims3{320, 7, 7}));
}

// What the two forms of one model keep of the split value, n by n: the same place, the same dims.
void expect_same_cuts(const ModelDescription& model) {
  const ModelDescription folded_model = folded(model);
  const int total = freeze_all_but_last(model, 0).total_units;
  ASSERT_EQ(freeze_all_but_last(folded_model, 0).total_units, total);
  for (int n = 0; n < total; ++n) {
    const Freeze plain = freeze_all_but_last(model, n),
                 fused = freeze_all_but_last(folded_model, n);
    ASSERT_EQ(plain.split.empty(), fused.split.empty()) << n;
    ASSERT_EQ(plain.split_dims, fused.split_dims) << n;
    if (plain.split.empty()) continue;
    const Slices a = realize_slice(model, plain.split, plain.split_dims);
    const Slices b = realize_slice(folded_model, fused.split, fused.split_dims);
    // The same units before the cut and behind it.
    ASSERT_EQ(weight_units(a.backbone).size(), weight_units(b.backbone).size()) << n;
    ASSERT_EQ(weight_units(a.head).size(), weight_units(b.head).size()) << n;
    // And the same without weights: folding the plain parts gives the folded ones.
    ASSERT_EQ(folded(a.backbone).layers.size(), b.backbone.layers.size()) << n;
  }
}

TEST(FreezeTest, FoldedAndUnfoldedFormsAreCutAtOnePlace) {
  expect_same_cuts(test::chain_model());
  expect_same_cuts(test::residual_model());
  expect_same_cuts(shipped("cifar-resnet20"));
  expect_same_cuts(shipped("cifar-mobilenet"));
}

TEST(FreezeTest, EveryCutOfEveryShippedModelIsLegal) {
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(MOIL_SOURCE_DIR) / "config/models")) {
    SCOPED_TRACE(entry.path().filename().string());
    const ModelDescription model = read_model(entry.path());
    const int total = freeze_all_but_last(model, 0).total_units;
    for (int n = 0; n < total; ++n) {
      const Freeze freeze = freeze_all_but_last(model, n);
      if (freeze.split.empty()) continue;
      const Slices slices = realize_slice(model, freeze.split, freeze.split_dims);
      std::set<std::string> head;
      for (const auto& layer : slices.head.layers) {
        head.insert(layer.name);
        EXPECT_FALSE(layer.type == "dropout" && n == 0);
      }
      for (const auto& name : freeze.trainable_layers) EXPECT_TRUE(head.contains(name)) << name;
      EXPECT_EQ(build_graph(slices.backbone, 1).values.back().info.dims.elements(),
                build_graph(slices.head, 1).values[0].info.dims.elements());
    }
  }
}

TEST(FreezeTest, TablesOfTheInputTrainWithWhateverDoes) {
  ModelDescription model{"table", {{"ids", {2}, ElementType::kInt32}}, {}, {"last"}};
  model.layers = {
      {"table", "embedding", {"ids"}, {{"rows", std::int64_t{4}}, {"width", std::int64_t{3}}}},
      {"flat", "flatten", {"table"}, {}},
      {"first", "fully_connected", {"flat"}, {{"units", std::int64_t{5}}}},
      {"last", "fully_connected", {"first"}, {{"units", std::int64_t{1}}}}};
  Freeze freeze = freeze_all_but_last(model, 1);
  EXPECT_EQ(freeze.split, "first");
  train_tables(model, freeze);
  EXPECT_THAT(freeze.trainable_layers, UnorderedElementsAre("table", "last"));
  EXPECT_EQ(freeze.split, "");
  EXPECT_THAT(freeze.split_dims, IsEmpty());
  EXPECT_EQ(freeze.trained_units, 2);
  freeze = freeze_all_but_last(model, std::nullopt);
  train_tables(model, freeze);
  EXPECT_EQ(freeze.trained_units, 3);
  freeze = freeze_all_but_last(model, 0);
  train_tables(model, freeze);
  EXPECT_THAT(freeze.trainable_layers, IsEmpty());
  freeze = freeze_all_but_last(test::chain_model(), 1);
  train_tables(test::chain_model(), freeze);
  EXPECT_NE(freeze.split, "") << "it has none";
}

}  // namespace
}  // namespace moil
