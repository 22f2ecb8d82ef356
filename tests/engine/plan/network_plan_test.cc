#include "engine/plan/network_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/model/preparation.h"
#include "tests/engine/model/models.h"
#include "tests/errors.h"

namespace moil {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A planned model, and names for what is in it. Which steps a plan has is told by
// random_networks_test.cc and paper_models_test.cc.
class PlannedNetwork {
 public:
  PlannedNetwork(const ModelDescription& model, const PlanOptions& options, std::int64_t batch = 4)
      : kernels_(test::fixed_kernels()),
        graph_(build_graph(model, batch)),
        plan_(plan_network(graph_, options, kernels_)) {}

  const NetworkPlan& plan() const { return plan_; }

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
  KernelSelector kernels_;
  Graph graph_;
  NetworkPlan plan_;
};

PlanOptions planned_training(std::set<std::string> weights) {
  PlanOptions options;
  options.training = true;
  options.trainable = std::move(weights);
  return options;
}

const ModelDescription kMlp = test::mlp_model(5, 7, 3);

// Whether a step writes the tensor.
bool is_written(const PlannedNetwork& network, const std::string& name) {
  const auto& uses = network.plan().pool.uses(network.tensor(name));
  return std::ranges::any_of(uses,
                             [](const TensorUse& use) { return use.access == Access::kWrite; });
}

TEST(NetworkPlanTest, ConstantsAndFrozenStatisticsAreReadAlone) {
  const ModelDescription model =
      test::ModelBuilder({4, 6, 6})
          .conv(8, 3)
          .layer("batch_norm", {}, {}, "moving")
          .conv(8, 3)
          .layer("batch_norm", {{"frozen", true}}, {}, "frozen")
          .relu()
          .layer("flatten")
          .fc(5)
          .layer("multiply_parameter", {{"dims", std::vector<std::int64_t>{5}}, {"trained", false}},
                 {}, "scale")
          .model();
  const PlannedNetwork network(test::prepared(model),
                               planned_training({"fully_connected0.weight"}));
  for (const char* statistic : {"running_mean", "running_var"}) {
    EXPECT_TRUE(is_written(network, "moving." + std::string(statistic)));
    EXPECT_FALSE(is_written(network, "frozen." + std::string(statistic)));
  }
  EXPECT_FALSE(is_written(network, "scale.weight"));
}

TEST(NetworkPlanTest, UnknownTrainedWeightsAreRefused) {
  test::expect_error(ErrorCode::kInvalidArgument, "fully_connected7.weight", [] {
    PlannedNetwork(test::prepared(kMlp), planned_training({"fully_connected7.weight"}));
  });
  const ModelDescription model = test::prepared(test::chain_model());
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
  const PlannedNetwork p(test::prepared(test::chain_model()),
                         planned_training({"conv2d0.weight", "batch_norm0.gamma"}));
  EXPECT_EQ(p.owner("batch_norm0"), "batch_norm0");  // its CG reads conv2d0
  EXPECT_EQ(p.owner("relu0"), "batch_norm0");
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
  const PlannedNetwork once(test::prepared(kMlp), options);
  EXPECT_TRUE(once.plan().pool.is_always(once.tensor("fully_connected0.weight/state1")));
  EXPECT_FALSE(once.plan().pool.is_always(once.tensor("fully_connected0.weight/gradient")));
  EXPECT_TRUE(once.plan().pool.is_always(once.tensor("fully_connected1.weight")));
  options.micro_batches = 2;
  const PlannedNetwork often(test::prepared(kMlp), options);
  EXPECT_TRUE(often.plan().pool.is_always(often.tensor("fully_connected0.weight/gradient")));
}

TEST(NetworkPlanTest, LiveBytesAddUpToTheBound) {
  const PlannedNetwork p(test::prepared(test::residual_model()),
                         planned_training({"conv2d0.weight", "fully_connected1.weight"}));
  const auto sum = [&](int order) {
    std::size_t bytes = 0;
    for (const auto& [kind, part] : live_bytes(p.plan(), order)) bytes += part;
    return bytes;
  };
  EXPECT_EQ(sum(peak_order(p.plan())), p.plan().lower_bound_bytes);
  for (int order = 0; order <= p.plan().last_order(); ++order)
    EXPECT_LE(sum(order), p.plan().lower_bound_bytes);
  EXPECT_THAT(live_bytes(p.plan(), p.plan().last_order() + 1), IsEmpty());
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

}  // namespace
}  // namespace moil
