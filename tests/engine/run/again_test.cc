// Networks that make outputs again instead of keeping them: the same bits, in less memory.
#include <gtest/gtest.h>

#include <random>

#include "engine/io/model_json.h"
#include "engine/plan/again_choice.h"
#include "tests/engine/model/models.h"
#include "tests/plain_build.h"
#include "tests/scratch_folder.h"

namespace moil {
namespace {

std::set<std::string> all_candidates(const ModelDescription& prepared,
                                     const NetworkOptions& options) {
  KernelSelector kernels = test::fixed_kernels();
  const Graph graph = build_graph(prepared, options.batch);
  const NetworkPlan plan = plan_network(graph, options.plan, kernels);
  std::set<std::string> layers;
  for (const AgainChoice& choice : again_choices(graph, plan, forecast_forward_seconds(graph)))
    layers.insert(choice.layer);
  return layers;
}

std::size_t bound_of(const ModelDescription& prepared, const NetworkOptions& options) {
  KernelSelector kernels = test::fixed_kernels();
  return plan_network(build_graph(prepared, options.batch), options.plan, kernels)
      .lower_bound_bytes;
}

struct AgainCase {
  ModelDescription model, prepared;
  NetworkOptions options;
};

AgainCase random_case_of(unsigned seed) {
  AgainCase c{test::random_model(seed), {}, {}};
  c.prepared = test::prepared(c.model);
  c.options = test::training_options(c.model, 2 + seed % 3);
  c.options.plan.optimizer_states = static_cast<int>(seed % 3);
  c.options.plan.clip_by_global_norm = seed % 4 == 0;
  return c;
}

TEST(AgainTest, ChangesNoBit) {
  MOIL_NEEDS_BOTH_BUILDS();
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    AgainCase c = random_case_of(seed);
    const WeightMap weights = test::random_weights(c.model, seed);
    const auto expected = test::train(c.prepared, c.options, weights, 3);
    const std::set<std::string> all = all_candidates(c.prepared, c.options);
    std::mt19937 random(seed);
    std::set<std::string> some;
    for (const std::string& layer : all)
      if (random() % 2 == 0) some.insert(layer);
    for (const auto& layers : {all, some}) {
      c.options.plan.again = layers;
      ASSERT_TRUE(test::train(c.prepared, c.options, weights, 3) == expected);
    }
  }
}

TEST(AgainTest, ChangesNoBitBesideSwapNorWithoutSharing) {
  const test::ScratchFolder folder;
  for (unsigned seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    AgainCase c = random_case_of(seed);
    c.options.swap_folder = folder.path();
    const WeightMap weights = test::random_weights(c.model, seed);
    const auto expected = test::train(c.prepared, c.options, weights, 3);
    c.options.plan.again = all_candidates(c.prepared, c.options);
    c.options.plan.share_memory = false;
    ASSERT_TRUE(test::train(c.prepared, c.options, weights, 3) == expected);
    c.options.plan.share_memory = true;
    c.options.plan.swap.smallest_bytes = 1;
    for (const SwapMode mode : {SwapMode::kOnDemand, SwapMode::kReduced, SwapMode::kProactive}) {
      c.options.plan.swap.mode = mode;
      ASSERT_TRUE(test::train(c.prepared, c.options, weights, 3) == expected) << to_string(mode);
    }
  }
}

// An inverted bottleneck a block, as MobileNetV2 has them.
ModelDescription bottlenecks(int blocks) {
  test::ModelBuilder b({4, 24, 24});
  for (int i = 0; i < blocks; ++i) {
    b.conv(24, 1).norm().layer("relu6");
    b.layer("conv2d", {{"out_channels", std::int64_t{24}},
                       {"kernel", std::int64_t{3}},
                       {"padding", std::int64_t{1}},
                       {"groups", std::int64_t{24}},
                       {"bias", false}});
    b.norm().layer("relu6").conv(4, 1).norm();
  }
  return b.layer("dropout").layer("global_average_pool").fc(3).model();
}

// In each block the wide output of the convolution before a norm is kept, and no other.
TEST(AgainTest, NormsActivationsAndDepthwiseOutputsNeedNotBeKept) {
  AgainCase c{bottlenecks(5), {}, {}};
  c.prepared = test::prepared(c.model);
  c.options = test::training_options(c.model, 8);
  const std::size_t kept = bound_of(c.prepared, c.options);
  for (const LayerDescription& layer : c.model.layers)
    if (layer.type == "batch_norm" || layer.type == "relu6" ||
        (layer.properties.contains("groups") &&
         std::get<std::int64_t>(layer.properties.at("groups")) > 1))
      c.options.plan.again.insert(layer.name);
  const std::size_t made = bound_of(c.prepared, c.options);
  EXPECT_LT(made, kept / 2);
}

TEST(AgainTest, StatisticsMoveOnceAndMasksAreTheSame) {
  AgainCase c{bottlenecks(2), {}, {}};
  c.prepared = test::prepared(c.model);
  c.options = test::training_options(c.model, 8);
  const WeightMap weights = test::random_weights(c.model, 3);
  const auto expected = test::train(c.prepared, c.options, weights, 4);
  c.options.plan.again = all_candidates(c.prepared, c.options);
  EXPECT_TRUE(c.options.plan.again.contains("relu60"));
  const auto found = test::train(c.prepared, c.options, weights, 4);
  EXPECT_TRUE(found == expected);
  EXPECT_TRUE(found.tensors.contains("batch_norm0.running_mean"));
}

// What gives most bytes for a second comes first, and everything before a choice is needed too.
TEST(AgainTest, TheCheapestComeFirst) {
  AgainCase c{bottlenecks(2), {}, {}};
  c.prepared = test::prepared(c.model);
  c.options = test::training_options(c.model, 8);
  KernelSelector kernels = test::fixed_kernels();
  const Graph graph = build_graph(c.prepared, c.options.batch);
  const NetworkPlan plan = plan_network(graph, c.options.plan, kernels);
  const auto choices = again_choices(graph, plan, forecast_forward_seconds(graph));
  ASSERT_GT(choices.size(), 4U);
  for (std::size_t i = 1; i < choices.size(); ++i)
    EXPECT_GE(static_cast<double>(choices[i - 1].bytes) / choices[i - 1].seconds,
              static_cast<double>(choices[i].bytes) / choices[i].seconds);
}

TEST(AgainTest, LayersThatNobodyMakesAgainAreLetBe) {
  AgainCase c{test::mlp_model(5, 7, 3), {}, {}};
  c.prepared = test::prepared(c.model);
  c.options = test::training_options(c.model, 4);
  c.options.plan.again = {"nobody", "loss"};
  const std::size_t same = bound_of(c.prepared, c.options);
  c.options.plan.again = {};
  EXPECT_EQ(bound_of(c.prepared, c.options), same);
}

}  // namespace
}  // namespace moil
