// What a network's plan asks of a selection between processors (device/selection.h): its layers'
// passes and times, and the tensors that pass between them.
//
// Pure functions; thread-safe.
#pragma once

#include <array>
#include <vector>

#include "engine/device/assignment.h"
#include "engine/device/recorded_device.h"
#include "engine/device/selection.h"
#include "engine/plan/network_plan.h"

namespace moil {

// Seconds of each node's steps, by StepKind.
using StepSeconds = std::vector<std::array<double, kStepKinds>>;

// What is measured of one processor besides the CPU.
struct MeasuredProcessor {
  const NetworkPlan& plan;  // with all that it can compute on it
  const StepSeconds& seconds;
  TransferCosts transfers;
};

// cpu: of the same steps. others: by ProcessorId - 1. A tensor that several plans hand over is
// there once.
[[nodiscard]] SelectionProblem selection_problem(const Graph& graph, const StepSeconds& cpu,
                                                 const std::vector<MeasuredProcessor>& others);

// The same on a recorded device, with its times: what its record leaves out takes none, on the CPU.
// model: prepared. kInvalidArgument if the device was recorded with another network.
[[nodiscard]] SelectionProblem recorded_problem(const RecordedDevice& device,
                                                const ModelDescription& model, std::int64_t batch,
                                                const PlanOptions& options, KernelSelector& kernels,
                                                bool shares_memory);

// Every step of every layer.
[[nodiscard]] Assignment everything_on(ProcessorId processor, const Graph& graph);
// The schedule is for the graph's layers.
[[nodiscard]] Assignment assignment_of(const Graph& graph, const Schedule& schedule);

}  // namespace moil
