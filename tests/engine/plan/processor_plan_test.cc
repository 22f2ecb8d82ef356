#include "engine/plan/processor_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/model/preparation.h"
#include "tests/engine/model/models.h"

namespace moil {
namespace {

using namespace moil::test;
using ::testing::Each;
using ::testing::Field;

class NoStep final : public ProcessorStep {
 public:
  explicit NoStep(std::size_t workspace) : workspace_(workspace) {}
  std::size_t workspace_bytes() const override { return workspace_; }
  void run(ProcessorMemory&, const StepCall&) override {}

 private:
  std::size_t workspace_;
};

// Takes every step that says what it is, and computes nothing: plans are what is looked at.
class PaperProcessor final : public Processor {
 public:
  explicit PaperProcessor(bool shares) : shares_(shares) {}
  std::string_view name() const override { return "paper"; }
  std::string device() const override { return "paper"; }
  bool is_the_cpu() const override { return false; }
  bool shares_memory() const override { return shares_; }
  std::size_t alignment() const override { return 256; }
  std::unique_ptr<ProcessorStep> make_step(const Operation& operation, StepKind) override {
    if (std::holds_alternative<std::monostate>(operation)) return nullptr;
    if (std::holds_alternative<operation::Softmax>(operation))
      throw ProcessorError("no softmax on paper");
    return std::make_unique<NoStep>(1000);
  }
  void update(ProcessorMemory&, const SgdCoefficients&, const UpdateRanges&) override {}
  void update(ProcessorMemory&, const AdamCoefficients&, const UpdateRanges&) override {}
  std::unique_ptr<ProcessorMemory> attach(std::span<std::byte>, std::size_t,
                                          std::span<const MemoryRange>) override {
    return nullptr;
  }

 private:
  bool shares_;
};

struct PlannedOnBoth {
  Graph graph;
  NetworkPlan plan;
};

PlannedOnBoth plan(const ModelDescription& model, const Assignment& assignment,
                   bool shares = true) {
  PlanOptions options;
  options.training = true;
  options.optimizer_states = 1;
  options.processors = {std::make_shared<PaperProcessor>(shares)};
  options.assignment = assignment;
  KernelSelector kernels = fixed_kernels();
  PlannedOnBoth planned{build_graph(model, 4), {}};
  for (const Node& node : planned.graph.nodes)
    for (const WeightSpec& weight : node.weights)
      if (weight.trainable) options.trainable.insert(weight_name(node, weight));
  planned.plan = plan_network(planned.graph, options, kernels);
  return planned;
}

Assignment all_of(const ModelDescription& model) {
  Assignment assignment;
  for (const auto& layer : model.layers) assignment[layer.name] = all_steps_on(kSecondProcessor);
  return assignment;
}

TEST(ProcessorPlan, AProcessorThatComputesNothingHasNoRanges) {
  const ModelDescription model = prepared(mlp_model(8, 16, 3));
  EXPECT_TRUE(plan(model, {}).plan.processors[0].empty());
}

TEST(ProcessorPlan, AllElsewhereHandsOverBatchesAndTheLossAlone) {
  const ModelDescription model = prepared(mlp_model(8, 16, 3));
  const PlannedOnBoth p = plan(model, all_of(model));
  const auto& transfers = p.plan.processors[0].transfers;
  ASSERT_EQ(transfers.size(), 3u);  // samples and targets to the processor, the loss from it
  EXPECT_EQ(transfers[0].transfer, Transfer::kTake);
  EXPECT_EQ(transfers[1].transfer, Transfer::kTake);
  EXPECT_EQ(transfers[2].transfer, Transfer::kGive);
  EXPECT_EQ(transfers[2].step, static_cast<int>(p.plan.program.size()));
}

TEST(ProcessorPlan, RangesAreAlignedAsTheProcessorAsks) {
  const ModelDescription model = prepared(residual_model());
  const PlannedOnBoth p = plan(model, all_of(model));
  for (const MemoryRange& range : p.plan.processors[0].ranges) {
    EXPECT_EQ(range.offset % 256, 0u);
    EXPECT_EQ(range.bytes % 256, 0u);
  }
}

TEST(ProcessorPlan, SharedMemoryHasNoSecondCopyOfAnyTensor) {
  const ModelDescription model = prepared(residual_model());
  EXPECT_EQ(plan(model, all_of(model), true).plan.processors[0].device_bytes, 0u);
  const PlannedOnBoth copies = plan(model, all_of(model), false);
  EXPECT_GT(copies.plan.processors[0].device_bytes, 0u);
  EXPECT_LE(copies.plan.processors[0].device_bytes, copies.plan.memory.total_bytes);
}

// On shared memory whatever shares bytes with a range of the processor's passes from hand to hand.
TEST(ProcessorPlan, NoByteThatTheProcessorTouchesIsTheCpusUnasked) {
  const ModelDescription model = prepared(residual_model());
  Assignment assignment = all_of(model);
  int number = 0;
  for (auto& [layer, steps] : assignment)
    if (++number % 2 == 0) steps = {};
  const PlannedOnBoth p = plan(model, assignment);
  const auto requests = memory_requests(p.plan.pool, p.plan.stays);
  std::vector<std::pair<std::size_t, std::size_t>> processors;
  for (std::size_t s = 0; s < p.plan.program.size(); ++s) {
    if (!p.plan.program[s].processor) continue;
    for (const Touch& touch : p.plan.processors[0].steps[s].touches) {
      const MemoryRange& r = p.plan.processors[0].ranges[static_cast<std::size_t>(touch.range)];
      processors.emplace_back(r.offset, r.offset + r.bytes);
    }
  }
  for (std::size_t s = 0; s < p.plan.stays.size(); ++s) {
    if (p.plan.processors[0].range_at(s) != kNoRange) continue;
    for (const auto& [begin, end] : processors)
      EXPECT_TRUE(p.plan.memory.offsets[s] >= end ||
                  p.plan.memory.offsets[s] + requests[s].bytes <= begin)
          << p.plan.pool.spec(p.plan.stays[s].owner).name;
  }
}

TEST(ProcessorPlan, AWorkspaceIsTheProcessorsNotTheCpus) {
  const ModelDescription model = prepared(mlp_model(8, 16, 3));
  const PlannedOnBoth p = plan(model, all_of(model));
  const TensorId workspace = p.plan.nodes[0].workspaces[0];
  ASSERT_NE(workspace, kNoTensor);
  EXPECT_EQ(p.plan.pool.spec(workspace).info.bytes(), 1000u);
}

TEST(ProcessorPlan, WhatTheDriverRefusesStaysWithTheCpuAndIsTold) {
  const ModelDescription model = prepared(ModelBuilder({8}).fc(3).layer("softmax").fc(3).model());
  const PlannedOnBoth p = plan(model, all_of(model));
  ASSERT_FALSE(p.plan.refused.empty());
  EXPECT_EQ(p.plan.refused[0], "softmax0 F: no softmax on paper");
  for (const Instruction& step : p.plan.program) {
    const bool is_softmax = p.graph.nodes[static_cast<std::size_t>(step.node)].type == "softmax";
    EXPECT_TRUE(!is_softmax || step.processor == kCpu);
  }
}

}  // namespace
}  // namespace moil
