// Networks that swap: the same bits as those that do not, in less memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "engine/tensor/swapper.h"
#include "tests/engine/model/models.h"
#include "tests/errors.h"
#include "tests/plain_build.h"
#include "tests/scratch_folder.h"

namespace moil {
namespace {

struct SwapCase {
  ModelDescription model, prepared;
  NetworkOptions options;
};

SwapCase case_of(const ModelDescription& model, std::int64_t batch, int states, bool clip) {
  SwapCase c{model, test::prepared(model), test::training_options(model, batch)};
  c.options.plan.optimizer_states = states;
  c.options.plan.clip_by_global_norm = clip;
  c.options.swap_folder = std::filesystem::temp_directory_path();
  return c;
}

SwapCase random_case(unsigned seed) {
  return case_of(test::random_model(seed), 2 + seed % 3, static_cast<int>(seed % 3), seed % 4 == 0);
}

SwapOptions swap(SwapMode mode, int lookahead = 1) {
  SwapOptions options;
  options.mode = mode;
  options.weight_lookahead = options.tensor_lookahead = lookahead;
  options.smallest_bytes = 1;
  return options;
}

// Times as a machine might have measured them: some orders long, some short, a disk of some speed.
SwapTimes random_times(unsigned seed, int orders) {
  std::mt19937 random(seed);
  SwapTimes times;
  for (int o = 0; o < orders; ++o)
    times.order_seconds.push_back(1e-6 * static_cast<double>(1 + random() % 1000));
  times.read_bytes_per_second = 1e6 * static_cast<double>(1 + random() % 1000);
  times.write_bytes_per_second = 1e6 * static_cast<double>(1 + random() % 1000);
  return times;
}

TEST(SwapTest, ChangesNoBit) {
  MOIL_NEEDS_BOTH_BUILDS();
  for (unsigned seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    SwapCase c = random_case(seed);
    const WeightMap weights = test::random_weights(c.model, seed);
    const auto expected = test::train(c.prepared, c.options, weights, 3);
    for (const SwapOptions& options :
         {swap(SwapMode::kOnDemand), swap(SwapMode::kReduced), swap(SwapMode::kProactive, 1),
          swap(SwapMode::kProactive, 3)}) {
      c.options.plan.swap = options;
      const auto found = test::train(c.prepared, c.options, weights, 3);
      ASSERT_TRUE(found == expected) << to_string(options.mode);
    }
  }
}

TEST(SwapTest, ChangesNoBitUnderABudgetWithMeasuredTimes) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    SwapCase c = random_case(seed);
    const WeightMap weights = test::random_weights(c.model, seed);
    const auto expected = test::train(c.prepared, c.options, weights, 3);
    KernelSelector kernels = test::fixed_kernels();
    const NetworkPlan plain =
        plan_network(build_graph(c.prepared, c.options.batch), c.options.plan, kernels);
    SwapOptions options = swap(SwapMode::kProactive);
    options.budget_bytes = plain.lower_bound_bytes * 2 / 3;
    if (seed % 2 == 0) options.times = random_times(seed, plain.last_order() + 1);
    c.options.plan.swap = options;
    ASSERT_TRUE(test::train(c.prepared, c.options, weights, 3) == expected);
  }
}

std::size_t bound(SwapCase& c, const SwapOptions& options) {
  c.options.plan.swap = options;
  KernelSelector kernels = test::fixed_kernels();
  return plan_network(build_graph(c.prepared, c.options.batch), c.options.plan, kernels)
      .lower_bound_bytes;
}

ModelDescription wide_chain() {
  test::ModelBuilder b({8, 32, 32});
  for (int i = 0; i < 6; ++i) b.conv(32, 3).relu();
  return b.layer("global_average_pool").fc(3).model();
}

TEST(SwapTest, TakesLessMemoryTheLessItKeeps) {
  SwapCase c = case_of(wide_chain(), 8, 1, false);
  SwapOptions on_demand = swap(SwapMode::kOnDemand), reduced = swap(SwapMode::kReduced),
              proactive = swap(SwapMode::kProactive);
  EXPECT_LE(bound(c, on_demand), bound(c, reduced));
  EXPECT_LT(bound(c, reduced), bound(c, proactive));
  EXPECT_LT(bound(c, proactive), bound(c, {}));
}

// With a budget no more is swapped than it takes.
TEST(SwapTest, ABudgetIsMetWithFewerBytesMoved) {
  SwapCase c = case_of(wide_chain(), 8, 1, false);
  KernelSelector kernels = test::fixed_kernels();
  const Graph graph = build_graph(c.prepared, c.options.batch);
  const auto plan_with = [&](std::size_t budget) {
    c.options.plan.swap = swap(SwapMode::kProactive);
    c.options.plan.swap.budget_bytes = budget;
    c.options.plan.memory_budget_bytes = 0;
    return plan_network(graph, c.options.plan, kernels);
  };
  const NetworkPlan all = plan_with(0);
  std::size_t moved_before = 0;
  for (const double share : {1.0, 0.9, 0.8, 0.7, 0.6}) {
    c.options.plan.memory_budget_bytes = 0;
    const auto budget = static_cast<std::size_t>(share * static_cast<double>(bound(c, {})));
    const NetworkPlan plan = plan_with(budget);
    const SwapTraffic moved = plan.traffic();
    EXPECT_LE(plan.lower_bound_bytes, budget + kSwapAlignment * plan.stays.size());
    EXPECT_GE(moved.read_bytes + moved.written_bytes, moved_before);
    EXPECT_LE(moved.written_bytes, all.traffic().written_bytes);
    moved_before = moved.read_bytes + moved.written_bytes;
  }
  EXPECT_GT(moved_before, 0u);
}

TEST(SwapTest, CountsWhatThePlanSays) {
  SwapCase c = case_of(wide_chain(), 4, 1, false);
  c.options.plan.swap = swap(SwapMode::kReduced);
  KernelSelector kernels = test::fixed_kernels();
  Network network(c.prepared, c.options, kernels);
  network.allocate();
  network.load(test::random_weights(c.model, 1));
  test::SgdUpdater updater;
  constexpr int kSteps = 3;
  for (int step = 0; step < kSteps; ++step) network.train_step(1, &updater);
  const SwapTraffic planned = network.plan().traffic();
  const SwapStatistics counted = network.swap_statistics();
  EXPECT_EQ(counted.read_bytes, kSteps * planned.read_bytes);
  EXPECT_EQ(counted.written_bytes, kSteps * planned.written_bytes);
  EXPECT_EQ(counted.transfers, kSteps * planned.transfers);
}

// Steps of several micro-batches, and all that persists after them.
std::map<std::string, std::vector<float>> train_in_micro_batches(const SwapCase& c, int steps,
                                                                 SwapStatistics* moved = nullptr,
                                                                 SwapTraffic* planned = nullptr) {
  KernelSelector kernels = test::fixed_kernels();
  Network network(c.prepared, c.options, kernels);
  network.allocate();
  network.load(test::random_weights(c.model, 1));
  test::SgdUpdater updater;
  const int passes = c.options.plan.micro_batches;
  for (int pass = 0; pass < steps * passes; ++pass) {
    const bool last = pass % passes == passes - 1;
    test::fill_inputs(network, static_cast<unsigned>(pass));
    network.train_step(1, last ? &updater : nullptr, pass % passes > 0);
  }
  if (moved) *moved = network.swap_statistics();
  if (planned) *planned = network.plan().traffic();
  std::map<std::string, std::vector<float>> left;
  for (const PersistentTensor& tensor : network.persistent()) {
    const auto data = tensor.data();
    left[tensor.name].assign(data.values.begin(), data.values.end());
  }
  return left;
}

// Gradients are applied once a step, and what applying needs is moved once.
TEST(SwapTest, OptimizerStatesDoNotTravelInTheMiddleOfAStep) {
  SwapCase c = case_of(wide_chain(), 4, 2, false);
  std::size_t states = 0;
  for (const auto& [name, weight] : test::random_weights(c.model, 1))
    states += 2 * swap_aligned(4 * weight.data.size());
  c.options.plan.micro_batches = 3;
  const auto expected = train_in_micro_batches(c, 2);
  for (const SwapMode mode : {SwapMode::kOnDemand, SwapMode::kReduced, SwapMode::kProactive}) {
    SCOPED_TRACE(to_string(mode));
    c.options.plan.swap = swap(mode);
    SwapStatistics moved;
    SwapTraffic planned;
    EXPECT_TRUE(train_in_micro_batches(c, 2, &moved, &planned) == expected);
    EXPECT_EQ(moved.read_bytes, 2 * planned.read_bytes);
    EXPECT_EQ(moved.written_bytes, 2 * planned.written_bytes);
    EXPECT_EQ(moved.transfers, 2 * planned.transfers);
    KernelSelector kernels = test::fixed_kernels();
    NetworkPlan plan =
        plan_network(build_graph(c.prepared, c.options.batch), c.options.plan, kernels);
    const SwapTraffic of_three = plan.traffic();
    plan.iteration.passes = 1;
    EXPECT_LE(of_three.read_bytes, 3 * plan.traffic().read_bytes - 2 * states);
    EXPECT_LE(of_three.written_bytes, 3 * plan.traffic().written_bytes - 2 * states);
  }
}

TEST(SwapTest, WantsAFolderItCanWriteIn) {
  SwapCase c = case_of(wide_chain(), 4, 1, false);
  c.options.plan.swap = swap(SwapMode::kReduced);
  c.options.swap_folder = "/nowhere";
  KernelSelector kernels = test::fixed_kernels();
  Network network(c.prepared, c.options, kernels);
  test::expect_error(ErrorCode::kNotFound, "/nowhere", [&] { network.allocate(); });
}

TEST(SwapTest, LeavesNoFileBehind) {
  const test::ScratchFolder folder;
  SwapCase c = case_of(wide_chain(), 4, 1, false);
  c.options.plan.swap = swap(SwapMode::kReduced);
  c.options.swap_folder = folder.path();
  KernelSelector kernels = test::fixed_kernels();
  Network network(c.prepared, c.options, kernels);
  network.allocate();
  EXPECT_TRUE(folder.files().empty());
}

TEST(SwapTest, InferenceDoesNotSwap) {
  NetworkOptions options{.batch = 2, .plan = {}, .swap_folder = "/tmp"};
  options.plan.swap.mode = SwapMode::kReduced;
  KernelSelector kernels = test::fixed_kernels();
  EXPECT_THROW(Network(test::chain_model(), options, kernels), Error);
}

}  // namespace
}  // namespace moil
