// A third processor, and a fourth, beside the CPU: plans, runs and selections know them by id
// alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/device/schedule_cost.h"
#include "engine/model/preparation.h"
#include "engine/train/processor_measurement.h"
#include "tests/engine/device/guarded_processor.h"
#include "tests/engine/device/mixed_networks.h"
#include "tests/engine/opencl/opencl_device.h"

namespace moil {
namespace {

using namespace moil::test;

std::vector<std::shared_ptr<Processor>> made_up(const std::vector<bool>& share_memory) {
  std::vector<std::shared_ptr<Processor>> processors;
  for (const bool shares : share_memory) processors.push_back(make_guarded_processor(shares));
  return processors;
}

TEST(SeveralProcessors, AnyMixIsAsOnTheCpu) {
  for (const auto& share_memory : std::vector<std::vector<bool>>{
           {true}, {false}, {true, false}, {true, true, false}, {false, false, true}}) {
    SCOPED_TRACE(::testing::PrintToString(share_memory));
    expect_mixes_as_on_the_cpu(made_up(share_memory), 20);
  }
}

TEST(SeveralProcessors, SwapGoesOnBesideThem) {
  expect_mixes_as_on_the_cpu(
      made_up({true, false}), 20, [](unsigned seed, NetworkOptions& options) {
        options.swap_folder = ::testing::TempDir();
        options.plan.swap.mode = seed % 2 ? SwapMode::kOnDemand : SwapMode::kProactive;
        options.plan.swap.smallest_bytes = 1;
      });
}

TEST(SeveralProcessors, AMadeUpOneStandsBesideADriver) {
  const OpenclDevice device = opencl_device();
  MOIL_NEEDS_OPENCL(device);
  expect_mixes_as_on_the_cpu({device.processor, make_guarded_processor(false)}, 20);
  expect_mixes_as_on_the_cpu({make_guarded_processor(true), device.processor}, 20);
}

// What runs is what was planned, to the transfer, for each.
TEST(SeveralProcessors, AStepHandsOverAsOftenAsThePlansSay) {
  const ModelDescription model = prepared(residual_model());
  NetworkOptions options = mixed_options(model);
  options.plan.processors = made_up({true, false});
  options.plan.assignment = any_mix(model, 3, 2);
  expect_planned_transfers(model, options);
}

TEST(SeveralProcessors, WhatOneHasNoWayOfComputingStaysWithTheCpu) {
  const ModelDescription model = prepared(residual_model());
  NetworkOptions options = mixed_options(model);
  options.plan.processors = made_up({true, false});
  options.plan.assignment = everything_on(2, build_graph(model, kMixedBatch));
  KernelSelector kernels = fixed_kernels();
  const Network network(model, options, kernels);
  EXPECT_TRUE(network.plan().processors[0].empty());
  EXPECT_FALSE(network.plan().processors[1].empty());
  for (const Instruction& step : network.plan().program) {
    const std::string& type = network.graph().nodes[static_cast<std::size_t>(step.node)].type;
    if (type == "conv2d" && step.kind != StepKind::kApplyGradient) {
      EXPECT_EQ(step.processor, kCpu);
    }
    if (type == "fully_connected") {
      EXPECT_EQ(step.processor, 2);
    }
  }
}

TEST(SeveralProcessors, AnAssignmentToOneThatIsNotThereIsRefused) {
  const ModelDescription model = prepared(mlp_model(8, 16, 3));
  NetworkOptions options = mixed_options(model);
  options.plan.processors = made_up({true});
  options.plan.assignment = everything_on(2, build_graph(model, kMixedBatch));
  KernelSelector kernels = fixed_kernels();
  EXPECT_THROW(Network(model, options, kernels), Error);
}

// Each layer on the processor that is fastest with it, if transfers take nothing.
TEST(SeveralProcessors, ASelectionChoosesAmongAllOfThem) {
  const ModelDescription model = prepared(mlp_model(8, 16, 3));
  const NetworkOptions options = mixed_options(model);
  KernelSelector kernels = fixed_kernels();
  ProcessorMeasurement measured =
      measure_processors(model, options, {}, kernels, made_up({true, false}), 1);
  SelectionProblem& problem = measured.problem;
  ASSERT_EQ(problem.transfers.size(), 2u);
  EXPECT_EQ(measured.other_seconds.size(), 2u);
  for (TransferCosts& costs : problem.transfers) costs = {costs.shares_memory, {}, {}};
  std::size_t number = 0;
  for (SelectionLayer& layer : problem.layers) {
    const ProcessorId fastest = ++number % 3;
    for (auto& pass : layer.passes)
      for (ProcessorId id = kCpu; pass && id < kMostProcessors; ++id)
        if ((*pass)[id]) (*pass)[id] = id == fastest ? 1.0 : 2.0;
  }
  const Schedule schedule = select(problem, SelectionMethod::kPath);
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    for (std::size_t p = 0; p < kPasses; ++p) {
      const auto& pass = problem.layers[i].passes[p];
      if (!pass || !(*pass)[(i + 1) % 3]) continue;
      EXPECT_EQ(schedule[i][p], (i + 1) % 3) << problem.layers[i].name;
    }
  }
  EXPECT_EQ(cost_of(problem, schedule).seconds(),
            cost_of(problem, select(problem, SelectionMethod::kStepWise)).seconds());
}

// What goes from one to the other passes by the host: it costs both their transfers.
TEST(SeveralProcessors, FromOneToAnotherIsTwoTransfers) {
  SelectionProblem problem;
  problem.layers = {{"a", "fully_connected", {PassTimes{9, 1, 9}}},
                    {"b", "fully_connected", {PassTimes{9, 9, 1}}}};
  problem.tensors = {
      {"y", 100, false, {{0, Pass::kForward, true, true}, {1, Pass::kForward, false, false}}}};
  problem.transfers = {{true, {0.5, 0}, {0.25, 0}}, {false, {0.125, 0}, {2, 0}}};
  const Schedule schedule = select(problem, SelectionMethod::kPath);
  EXPECT_EQ(to_string(problem.layers[0], schedule[0]), "G");
  EXPECT_EQ(to_string(problem.layers[1], schedule[1]), "2");
  const ScheduleCost cost = cost_of(problem, schedule);
  EXPECT_EQ(cost.transfers(), 2u);
  EXPECT_DOUBLE_EQ(cost.transfer_seconds, 0.25 + 0.125);
  EXPECT_EQ(transfers_in(problem, schedule)[1].processor, 2);
}

}  // namespace
}  // namespace moil
