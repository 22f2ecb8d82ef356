// Properties of plans, over random networks.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <random>

#include "engine/io/model_json.h"
#include "engine/model/freeze.h"
#include "engine/model/preparation.h"
#include "tests/engine/model/models.h"
#include "tests/engine/plan/liveness.h"
#include "tests/plain_build.h"

namespace moil {
namespace {

using test::ExpectedStep;
using test::Liveness;
using test::LiveTensor;

constexpr unsigned kNetworkSeeds = 400;

// A random network with random options: what trains, how large the batch is, whether it clips.
struct NetworkCase {
  ModelDescription model;
  NetworkOptions options;
};

NetworkCase inference_case(unsigned seed) {
  NetworkCase c{test::random_model(seed), {.batch = 1 + seed % 5, .plan = {}}};
  if (seed % 2 == 0) {
    WeightMap weights = test::random_weights(c.model, seed);
    c.model = prepare_inference(c.model, weights);
  }
  return c;
}

std::set<std::string> random_subset(const std::set<std::string>& all, std::mt19937& random) {
  const unsigned share = random() % 5;  // of 4: none to all
  std::set<std::string> some;
  for (const auto& name : all) {
    if (random() % 4 < share) some.insert(name);
  }
  return some;
}

// Then a batch is not cut into micro-batches.
bool has_batch_statistics(const ModelDescription& model) {
  return std::any_of(model.layers.begin(), model.layers.end(), [](const LayerDescription& layer) {
    return layer.type == "batch_norm" && !layer.properties.contains("frozen");
  });
}

NetworkCase training_case(unsigned seed) {
  std::mt19937 random(seed);
  const ModelDescription model = test::random_model(seed);
  const auto trained = random_subset(test::layers_of(model), random);
  NetworkCase c{prepare_training(model, "softmax_cross_entropy", trained), {}};
  c.options.batch = 2 + random() % 4;
  PlanOptions& plan = c.options.plan;
  plan.training = true;
  plan.memory_budget_bytes =
      std::numeric_limits<std::size_t>::max() / 4;  // the same kernels always
  plan.trainable = trainable_weights(model, &trained);
  if (random() % 3 == 0) plan.trainable = random_subset(plan.trainable, random);  // biases alone
  plan.clip_by_global_norm = random() % 3 == 0;
  plan.optimizer_states = static_cast<int>(random() % 3);
  if (random() % 4 == 0 && !has_batch_statistics(c.model)) plan.micro_batches = 2;
  return c;
}

void expect_only_needed_steps(const NetworkPlan& plan, const Liveness& live) {
  std::vector<ExpectedStep> planned;
  for (const Instruction& step : plan.program) planned.push_back({step.kind, step.node});
  ASSERT_EQ(planned.size(), live.steps.size());
  for (std::size_t s = 0; s < planned.size(); ++s) {
    ASSERT_TRUE(planned[s] == live.steps[s])
        << "step " << s << " is " << to_string(planned[s].kind) << " of node " << planned[s].node;
  }
}

bool meet(const LiveTensor& a, const LiveTensor& b) {
  return a.first <= b.last && b.first <= a.last;
}

void expect_nothing_overwritten(const NetworkPlan& plan, const Liveness& live) {
  const auto& tensors = live.tensors;
  std::vector<std::size_t> offsets;
  for (const LiveTensor& t : tensors) {
    offsets.push_back(test::offset_of(plan, t.ids[0]));
    for (const TensorId id : t.ids) ASSERT_EQ(test::offset_of(plan, id), offsets.back()) << t.name;
    ASSERT_LE(offsets.back() + t.bytes, plan.memory.total_bytes) << t.name;
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const LiveTensor &a = tensors[i], &b = tensors[j];
      const bool overlap = offsets[i] < offsets[j] + b.bytes && offsets[j] < offsets[i] + a.bytes;
      if (!overlap || !meet(a, b)) continue;
      const bool a_over_b = a.may_lie_over == static_cast<int>(j) && a.first == b.last;
      const bool b_over_a = b.may_lie_over == static_cast<int>(i) && b.first == a.last;
      ASSERT_TRUE((a_over_b || b_over_a) && offsets[i] == offsets[j])
          << a.name << " [" << a.first << ", " << a.last << "] lies over " << b.name << " ["
          << b.first << ", " << b.last << "]";
    }
  }
}

// By how much a plan exceeds the bound of its requests, and the bound from the graph.
struct Excess {
  double planned = 0, graph = 0;
  unsigned seed = 0;
};

Excess check_plan(const NetworkCase& c, unsigned seed) {
  KernelSelector kernels = test::fixed_kernels();
  const Graph graph = build_graph(c.model, c.options.batch);
  const NetworkPlan plan = plan_network(graph, c.options.plan, kernels);
  const Liveness live = test::liveness_of(graph, c.options.plan, plan);
  expect_only_needed_steps(plan, live);
  expect_nothing_overwritten(plan, live);
  const std::size_t bound = live.lower_bound_bytes();
  EXPECT_GE(plan.memory.total_bytes, bound);
  EXPECT_GE(plan.lower_bound_bytes, bound);
  const auto planned = static_cast<double>(plan.memory.total_bytes);
  return {planned / static_cast<double>(plan.lower_bound_bytes) - 1,
          planned / static_cast<double>(bound) - 1, seed};
}

void check_plans(const std::function<NetworkCase(unsigned)>& make) {
  Excess worst, worst_graph;
  double sum = 0;
  for (unsigned seed = 0; seed < kNetworkSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Excess excess = check_plan(make(seed), seed);
    if (::testing::Test::HasFailure()) return;
    EXPECT_LE(excess.planned, 0.05);
    sum += excess.planned;
    if (excess.planned > worst.planned) worst = excess;
    if (excess.graph > worst_graph.graph) worst_graph = excess;
  }
  std::printf(
      "of %u plans the worst is %.2f%% above its bound (seed %u), the mean %.3f%%; "
      "above the graph's own bound %.2f%% (seed %u)\n",
      kNetworkSeeds, 100 * worst.planned, worst.seed, 100 * sum / kNetworkSeeds,
      100 * worst_graph.graph, worst_graph.seed);
  EXPECT_LE(sum / kNetworkSeeds, 0.01);
}

TEST(RandomNetworksTest, PlansOfTraining) { check_plans(training_case); }
TEST(RandomNetworksTest, PlansOfInference) { check_plans(inference_case); }

// The models that ship, trained whole and from the last units on, and at inference.
TEST(ShippedNetworksTest, Plans) {
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(MOIL_SOURCE_DIR) / "config/models")) {
    SCOPED_TRACE(entry.path().filename().string());
    const ModelDescription model = read_model(entry.path());
    EXPECT_LE(check_plan({model, {.batch = 2, .plan = {}}}, 0).planned, 0.01);
    for (const std::optional<int> last : {std::optional<int>(), {1}, {3}}) {
      const auto layers = freeze_all_but_last(model, last).trainable_layers;
      NetworkCase c{prepare_training(model, "softmax_cross_entropy", layers), {}};
      c.options.batch = 4;
      c.options.plan.training = true;
      c.options.plan.trainable = trainable_weights(model, &layers);
      c.options.plan.optimizer_states = 1;
      EXPECT_LE(check_plan(c, 0).planned, 0.01);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(RandomNetworksTest, SharingMemoryChangesNoBitOfTraining) {
  MOIL_NEEDS_BOTH_BUILDS();
  for (unsigned seed = 0; seed < kNetworkSeeds / 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    NetworkCase c = training_case(seed);
    const WeightMap weights = test::random_weights(c.model, seed);
    const auto shared = test::train(c.model, c.options, weights, 4);
    c.options.plan.share_memory = false;
    const auto apart = test::train(c.model, c.options, weights, 4);
    ASSERT_EQ(shared.losses, apart.losses);
    ASSERT_TRUE(shared == apart);
  }
}

TEST(RandomNetworksTest, SharingMemoryChangesNoBitOfInference) {
  for (unsigned seed = 0; seed < kNetworkSeeds / 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    NetworkCase c = inference_case(seed);
    const WeightMap weights = test::random_weights(c.model, seed);
    std::vector<float> outputs[2];
    for (const bool share : {true, false}) {
      KernelSelector kernels = test::fixed_kernels();
      c.options.plan.share_memory = share;
      Network network(c.model, c.options, kernels);
      network.allocate();
      network.load(weights);
      for (unsigned run = 0; run < 3; ++run) {
        const auto input = test::random_values(network.input_info(0).dims.elements(), run);
        std::copy(input.begin(), input.end(), network.input(0));
        network.forward();
        const Dims& dims = network.output_info(0).dims;
        outputs[share].insert(outputs[share].end(), network.output(0),
                              network.output(0) + dims.elements());
      }
    }
    ASSERT_EQ(outputs[0], outputs[1]);
  }
}

}  // namespace
}  // namespace moil
