#include "engine/plan/selection_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/device/recorded_device.h"
#include "engine/io/model_json.h"
#include "engine/io/recorded_device_json.h"
#include "engine/train/trainer.h"
#include "tests/engine/model/models.h"

namespace moil {
namespace {

using namespace moil::test;
namespace fs = std::filesystem;

SelectionProblem problem_of(const ModelDescription& model, std::int64_t batch,
                            const RecordedDevice& device, bool shares_memory) {
  TrainerConfig config;
  config.batch = batch;
  config.optimizer.momentum = 0.9;
  TrainingPlanInput input = training_plan_input(model, nullptr, config);
  KernelSelector kernels = fixed_kernels();
  return recorded_problem(device, input.model, input.options.batch, input.options.plan, kernels,
                          shares_memory);
}

// A device of which nothing is recorded.
RecordedDevice unknown() {
  RecordedDevice device;
  device.network = chain_model().name;
  return device;
}

RecordedDevice odroid() {
  return read_recorded_device(fs::path(MOIL_SOURCE_DIR) /
                              "bench/cases/processors/odroid-xu4-made-up.json");
}

ModelDescription papers_network() {
  return read_model(fs::path(MOIL_SOURCE_DIR) / "config/models/resnet18-sound.json");
}

TEST(SelectionProblem, HasEveryPassOfEveryLayer) {
  const SelectionProblem p = problem_of(chain_model(), 4, unknown(), true);
  for (const SelectionLayer& layer : p.layers) {
    const bool has_weights =
        layer.type == "conv2d" || layer.type == "batch_norm" || layer.type == "fully_connected";
    EXPECT_EQ(layer.passes[2].has_value(), has_weights) << layer.name;
  }
}

TEST(SelectionProblem, WeightsPersistAndOnlyTheyAndTheirStatesDo) {
  const SelectionProblem p = problem_of(mlp_model(8, 16, 3), 4, unknown(), true);
  for (const SelectionTensor& tensor : p.tensors) {
    const bool lasts = tensor.name.ends_with(".weight") || tensor.name.ends_with(".bias") ||
                       tensor.name.ends_with("/state0");
    EXPECT_EQ(tensor.persistent, lasts) << tensor.name;
    EXPECT_FALSE(tensor.touches.empty()) << tensor.name;
  }
}

TEST(SelectionProblem, AnAssignmentIsItsSchedule) {
  const Graph graph = build_graph(mlp_model(8, 16, 3), 4);
  Schedule schedule(graph.nodes.size());
  schedule[0] = {kSecondProcessor, kCpu, kSecondProcessor};
  const Assignment assignment = assignment_of(graph, schedule);
  ASSERT_EQ(assignment.size(), 1u);
  EXPECT_EQ(assignment.begin()->second,
            (StepProcessors{kSecondProcessor, kCpu, kCpu, kSecondProcessor}));
}

// Table 1 and Figure 8 of the paper (Sensors 2021, 21, 2364), on a device that is made up from what
// the paper says.
TEST(SelectionProblem, TheMadeUpBoardComesOutInThePapersOrder) {
  const RecordedDevice board = odroid();
  const ModelDescription model = papers_network();
  const SelectionProblem copies = problem_of(model, 32, board, false);
  const SelectionProblem shared = problem_of(model, 32, board, true);
  const auto cost = [](const SelectionProblem& p, SelectionMethod method) {
    return cost_of(p, select(p, method));
  };
  const ScheduleCost rows[] = {
      cost(shared, SelectionMethod::kCpu),      cost(shared, SelectionMethod::kElsewhere),
      cost(copies, SelectionMethod::kStepWise), cost(copies, SelectionMethod::kLayerWise),
      cost(shared, SelectionMethod::kStepWise), cost(shared, SelectionMethod::kLayerWise),
      cost(shared, SelectionMethod::kPath)};
  for (std::size_t i = 1; i < std::size(rows); ++i)
    EXPECT_LT(rows[i].seconds(), rows[i - 1].seconds()) << "row " << i;
  EXPECT_NEAR(rows[0].seconds(), 11.43, 0.01);
  EXPECT_NEAR(rows[1].seconds(), 10.57, 0.01);
  EXPECT_GE(rows[2].transfers(), 4 * rows[3].transfers());
  EXPECT_GE(rows[4].transfers(), 4 * rows[5].transfers());
}

}  // namespace
}  // namespace moil
