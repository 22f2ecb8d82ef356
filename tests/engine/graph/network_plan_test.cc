#include "engine/graph/network_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/graph/preparation.h"
#include "tests/engine/graph/models.h"

namespace moil {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A planned model, and names for what is in it.
class PlannedNetwork {
 public:
  PlannedNetwork(const ModelDescription& model, const PlanOptions& options, std::int64_t batch = 4)
      : kernels_(test::fixed_kernels()),
        graph_(build_graph(model, batch)),
        plan_(plan_network(graph_, options, kernels_)) {}

  const NetworkPlan& plan() const { return plan_; }
  // "F fc0" and the like, in the order of the plan.
  std::vector<std::string> steps() const {
    std::vector<std::string> names;
    for (const PlannedStep& s : plan_.steps)
      names.push_back(std::string(to_string(s.kind)) + " " + node_name(s.node));
    return names;
  }
  // The value whose memory this value lies in.
  std::string owner(const std::string& value) const {
    return plan_.pool.spec(plan_.pool.owner(tensor(value))).name;
  }
  TensorId tensor(const std::string& name) const {
    for (TensorId id = 0; id < static_cast<TensorId>(plan_.pool.size()); ++id) {
      if (plan_.pool.spec(id).name == name) return id;
    }
    ADD_FAILURE() << "no tensor " << name;
    return 0;
  }

 private:
  std::string node_name(int node) const {
    return graph_.nodes[static_cast<std::size_t>(node)].name;
  }

  KernelSelector kernels_;
  Graph graph_;
  NetworkPlan plan_;
};

ModelDescription trained(const ModelDescription& model) {
  std::set<std::string> layers;
  for (const auto& layer : model.layers) layers.insert(layer.name);
  return prepare_training(model, "softmax_cross_entropy", layers);
}

PlanOptions planned_training(std::set<std::string> weights) {
  PlanOptions options;
  options.training = true;
  options.trainable = std::move(weights);
  return options;
}

const ModelDescription kMlp = test::mlp_model(5, 7, 3);

TEST(NetworkPlanTest, StepsOfATrainedModel) {
  const PlannedNetwork p(trained(kMlp),
                         planned_training({"fully_connected0.weight", "fully_connected1.weight"}));
  EXPECT_THAT(p.steps(), ElementsAre("F fully_connected0", "F tanh0", "F fully_connected1",
                                     "F loss", "CD loss", "CG fully_connected1",
                                     "CD fully_connected1", "AG fully_connected1", "CD tanh0",
                                     "CG fully_connected0", "AG fully_connected0"));
}

TEST(NetworkPlanTest, NothingBeforeTheFirstTrainedLayerComputesDerivatives) {
  const PlannedNetwork p(trained(kMlp), planned_training({"fully_connected1.bias"}));
  EXPECT_THAT(p.steps(),
              ElementsAre("F fully_connected0", "F tanh0", "F fully_connected1", "F loss",
                          "CD loss", "CG fully_connected1", "AG fully_connected1"));
}

TEST(NetworkPlanTest, FrozenLayersInTheMiddlePassDerivativesOn) {
  const PlannedNetwork p(trained(kMlp), planned_training({"fully_connected0.weight"}));
  EXPECT_THAT(p.steps(), ElementsAre("F fully_connected0", "F tanh0", "F fully_connected1",
                                     "F loss", "CD loss", "CD fully_connected1", "CD tanh0",
                                     "CG fully_connected0", "AG fully_connected0"));
}

TEST(NetworkPlanTest, NothingTrainsWithoutTrainedWeights) {
  const PlannedNetwork p(trained(kMlp), planned_training({}));
  EXPECT_THAT(p.steps(),
              ElementsAre("F fully_connected0", "F tanh0", "F fully_connected1", "F loss"));
}

TEST(NetworkPlanTest, InferenceIsForwardAlone) {
  const PlannedNetwork p(test::chain_model(), {});
  EXPECT_THAT(p.steps(),
              ElementsAre("F conv2d0", "F batch_norm0", "F relu0", "F conv2d1", "F relu1",
                          "F max_pool0", "F flatten0", "F fully_connected0"));  // no dropout
}

TEST(NetworkPlanTest, ClippingAppliesBehindAllGradients) {
  PlanOptions options = planned_training({"fully_connected0.weight", "fully_connected1.weight"});
  options.orders.clip_by_global_norm = true;
  const PlannedNetwork p(trained(kMlp), options);
  const auto steps = p.steps();
  EXPECT_THAT(std::vector(steps.end() - 2, steps.end()),
              ElementsAre("AG fully_connected1", "AG fully_connected0"));
}

TEST(NetworkPlanTest, TheFormOf2022AppliesBehindTheDerivative) {
  PlanOptions options = planned_training({"fully_connected0.weight", "fully_connected1.weight"});
  options.orders.form = OrderForm::k2022;
  const PlannedNetwork clipped_apart(trained(kMlp), options);
  const PlannedNetwork newer(
      trained(kMlp), planned_training({"fully_connected0.weight", "fully_connected1.weight"}));
  EXPECT_EQ(clipped_apart.steps(), newer.steps());
}

TEST(NetworkPlanTest, UnknownTrainedWeightsAreRefused) {
  try {
    const PlannedNetwork p(trained(kMlp), planned_training({"fully_connected7.weight"}));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(e.what(), HasSubstr("fully_connected7.weight"));
  }
  const ModelDescription model = trained(test::chain_model());
  EXPECT_THROW(PlannedNetwork(model, planned_training({"batch_norm0.running_mean"})), Error);
}

TEST(NetworkPlanTest, ActivationsLieOverWhatTheyRead) {
  const PlannedNetwork p(test::chain_model(), {});
  EXPECT_EQ(p.owner("batch_norm0"), "conv2d0");
  EXPECT_EQ(p.owner("relu0"), "conv2d0");
  EXPECT_EQ(p.owner("relu1"), "conv2d1");
  EXPECT_EQ(p.owner("dropout0"), p.owner("flatten0"));
}

TEST(NetworkPlanTest, WhatBackwardReadsIsNotOverwritten) {
  const PlannedNetwork p(trained(test::chain_model()),
                         planned_training({"conv2d0.weight", "batch_norm0.gamma"}));
  EXPECT_EQ(p.owner("batch_norm0"), "batch_norm0");  // its CG reads conv2d0
  EXPECT_EQ(p.owner("relu0"), "batch_norm0");
}

// The sum reads x again when it has already written over it.
TEST(NetworkPlanTest, NothingIsOverwrittenThatTheSameStepReadsByAnotherName) {
  const ModelDescription model =
      test::ModelBuilder({4})
          .fc(4)
          .layer("tanh", {}, {"input"}, "y")
          .layer("add", {}, {"fully_connected0", "y", "fully_connected0"})
          .model();
  const PlannedNetwork p(model, {});
  EXPECT_EQ(p.owner("add0"), "add0");
  WeightMap weights = test::random_weights(model, 1);
  const auto input = test::random_values(4, 2);
  const auto sum = test::infer(model, weights, 1, input);
  ModelDescription parts = model;
  parts.outputs = {"fully_connected0"};
  const auto x = test::infer(parts, weights, 1, input);
  parts.outputs = {"y"};
  const auto y = test::infer(parts, weights, 1, input);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(sum[i], x[i] + y[i] + x[i]);
}

TEST(NetworkPlanTest, OutputsAndInputsKeepTheirMemoryWhereTheyMust) {
  const ModelDescription model =
      test::ModelBuilder({4}).fc(4).relu().fc(4).model({"fully_connected0", "fully_connected1"});
  const PlannedNetwork p(model, {});
  EXPECT_EQ(p.owner("relu0"), "relu0");  // fully_connected0 is read behind the last step
  EXPECT_THAT(p.plan().pool.orders(p.tensor("input")), ElementsAre(0));
}

TEST(NetworkPlanTest, OptimizerStatesAndAccumulatedGradientsLiveAlways) {
  PlanOptions options = planned_training({"fully_connected0.weight", "fully_connected1.bias"});
  options.optimizer_states = 2;
  const PlannedNetwork once(trained(kMlp), options);
  EXPECT_TRUE(once.plan().pool.is_always(once.tensor("fully_connected0.weight/state1")));
  EXPECT_FALSE(once.plan().pool.is_always(once.tensor("fully_connected0.weight/gradient")));
  EXPECT_TRUE(once.plan().pool.is_always(once.tensor("fully_connected1.weight")));
  options.accumulate_gradients = true;
  const PlannedNetwork often(trained(kMlp), options);
  EXPECT_TRUE(often.plan().pool.is_always(often.tensor("fully_connected0.weight/gradient")));
}

TEST(NetworkPlanTest, LiveBytesAddUpToTheBound) {
  const PlannedNetwork p(trained(test::residual_model()),
                         planned_training({"conv2d0.weight", "fully_connected1.weight"}));
  const auto sum = [&](int order) {
    std::size_t bytes = 0;
    for (const auto& [kind, part] : live_bytes(p.plan(), order)) bytes += part;
    return bytes;
  };
  EXPECT_EQ(sum(peak_order(p.plan())), p.plan().lower_bound_bytes);
  for (int order = 0; order <= p.plan().last_order; ++order)
    EXPECT_LE(sum(order), p.plan().lower_bound_bytes);
  EXPECT_THAT(live_bytes(p.plan(), p.plan().last_order + 1), IsEmpty());
}

TEST(NetworkPlanTest, WithoutSharingEveryTensorIsItsOwn) {
  PlanOptions options;
  const ModelDescription model = test::chain_model();
  const PlannedNetwork shared(model, options);
  options.share_memory = false;
  const PlannedNetwork apart(model, options);
  EXPECT_GT(apart.plan().memory.total_bytes, shared.plan().memory.total_bytes);
  EXPECT_EQ(apart.owner("relu0"), "relu0");
}

TEST(NetworkPlanTest, StepsHaveNames) {
  EXPECT_STREQ(to_string(StepKind::kForward), "F");
  EXPECT_STREQ(to_string(StepKind::kComputeGradient), "CG");
  EXPECT_STREQ(to_string(StepKind::kComputeDerivative), "CD");
  EXPECT_STREQ(to_string(StepKind::kApplyGradient), "AG");
}

}  // namespace
}  // namespace moil
