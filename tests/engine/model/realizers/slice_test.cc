#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/model/freeze.h"
#include "engine/model/graph.h"
#include "engine/model/realizers/realizers.h"
#include "tests/engine/model/models.h"
#include "tests/errors.h"

namespace moil {
namespace {

using test::ModelBuilder;
using ::testing::HasSubstr;

std::string refusal(const ModelDescription& model, const std::string& split) {
  return test::error_of([&] { (void)realize_slice(model, split, {8, 8, 8}); });
}

// The head of the backbone's output is the whole model, bit by bit; what trains lies in the head.
void expect_composes(const ModelDescription& model, const Freeze& freeze, unsigned seed) {
  const Slices slices = realize_slice(model, freeze.split, freeze.split_dims);
  const auto head = test::layers_of(slices.head);
  EXPECT_TRUE(std::ranges::includes(head, freeze.trainable_layers));
  const WeightMap weights = test::random_weights(model, seed);
  constexpr std::int64_t kBatch = 3;
  std::int64_t elements = kBatch;
  for (const auto d : model.inputs[0].dims) elements *= d;
  const auto input = test::random_values(elements, seed);
  const auto features = test::infer(slices.backbone, weights, kBatch, input);
  ASSERT_EQ(test::infer(slices.head, weights, kBatch, features),
            test::infer(model, weights, kBatch, input))
      << "cut at " << freeze.split;
}

TEST(SliceTest, HeadOfBackboneIsTheModel) {
  for (const auto& model :
       {test::chain_model(), test::residual_model(), test::transformer_model()}) {
    for (int n = 0; n < freeze_all_but_last(model, 0).total_units; ++n) {
      const Freeze freeze = freeze_all_but_last(model, n);
      ASSERT_FALSE(freeze.split.empty());
      expect_composes(model, freeze, static_cast<unsigned>(n));
    }
  }
}

TEST(SliceTest, HeadOfBackboneIsTheModelOnRandomNetworks) {
  int cuts = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ModelDescription model = test::random_model(seed);
    const Freeze freeze =
        freeze_all_but_last(model, static_cast<int>(seed) % 4 + (seed % 7 == 0 ? 2 : 0));
    if (freeze.split.empty()) continue;
    expect_composes(model, freeze, seed);
    if (HasFatalFailure()) return;
    ++cuts;
  }
  EXPECT_GT(cuts, 30);
}

TEST(SliceTest, NamesWhatCrossesTheCut) {
  const ModelDescription model = test::residual_model();
  EXPECT_THAT(refusal(model, "batch_norm1"), HasSubstr("\"add0\" behind it also reads \"relu0\""));
  ModelBuilder skip({8});
  skip.fc(8).relu().layer("add", {}, {"relu0", "input"});
  EXPECT_THAT(refusal(skip.model(), "relu0"), HasSubstr("also reads \"input\""));
  ModelBuilder output({8});
  output.fc(8).relu().fc(3);
  EXPECT_THAT(refusal(output.model({"fully_connected1", "fully_connected0"}), "relu0"),
              HasSubstr("output behind it also reads \"fully_connected0\""));
}

TEST(SliceTest, UnknownSplit) { EXPECT_NE(refusal(test::chain_model(), "nothing"), ""); }

TEST(SliceTest, ASecondOutputMayBeTheSplit) {
  ModelBuilder b({8});
  b.fc(8).layer("multi_out", {{"outputs", std::int64_t{2}}}, {}, "m");
  b.layer("relu", {}, {"m:1"}, "r");
  const Slices slices = realize_slice(b.model(), "m:1", {8});
  EXPECT_EQ(slices.head.inputs[0].name, "m:1");
  EXPECT_EQ(build_graph(slices.head, 2).nodes.size(), 1u);
  EXPECT_EQ(build_graph(slices.backbone, 2).nodes.size(), 2u);
}

TEST(SliceTest, CutAtTheOutputLeavesAnEmptyHead) {
  const ModelDescription model = test::mlp_model(4, 5, 3);
  const Slices slices = realize_slice(model, "fully_connected1", {3});
  EXPECT_TRUE(slices.head.layers.empty());
  const auto logits = test::random_values(6, 1);
  EXPECT_EQ(test::infer(slices.head, {}, 2, logits), logits);
}

}  // namespace
}  // namespace moil
