// Which processor computes which pass of which layer (Sensors 2021, 21, 2364, §3.2).
//
// Passes are the paper's: FP = F, BP = CG and CD, UP = AG. A problem is what was measured: seconds
// of each pass on each processor, which tensors each pass touches, and what handing them over
// takes. A schedule's cost is counted with the rules that run it (hand_over.h), in an iteration
// that follows another. Pure functions; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/device/assignment.h"
#include "engine/device/transfer_costs.h"

namespace moil {

// Seconds by ProcessorId; empty if that processor has no way of computing it. The CPU's is there.
using PassTimes = std::array<std::optional<double>, kMostProcessors>;

struct SelectionLayer {
  std::string name, type;
  std::array<std::optional<PassTimes>, kPasses> passes;  // empty: the layer has no such pass
};

// Who touches a tensor, in the order of an iteration.
struct SelectionTouch {
  int layer = -1;  // -1: the host itself, that fills inputs and reads outputs
  Pass pass = Pass::kForward;
  bool writes = false;
  bool fresh = false;  // overwrites all of it
};

struct SelectionTensor {
  std::string name;
  std::size_t bytes = 0;
  bool persistent = false;  // who holds it last holds it first in the next iteration
  std::vector<SelectionTouch> touches;
};

struct SelectionProblem {
  std::vector<SelectionLayer> layers;    // in the order of F
  std::vector<SelectionTensor> tensors;  // those that more than one pass, or the host, touches
  std::vector<TransferCosts> transfers;  // of the processors besides the CPU, by id - 1
};

// Who computes each pass of each layer.
using LayerSchedule = std::array<ProcessorId, kPasses>;
using Schedule = std::vector<LayerSchedule>;
// C is the CPU, G the processor with the id 1; those beyond have their id.
char letter_of(ProcessorId id);
// "CGC", "CG" of a layer that updates nothing, "" of one that computes nothing.
[[nodiscard]] std::string to_string(const SelectionLayer& layer, const LayerSchedule& schedule);

struct ScheduleCost {
  double pass_seconds = 0, transfer_seconds = 0;
  // That carry contents: between passes of one layer, and between layers (or a layer and the host).
  std::size_t transfers_within = 0, transfers_between = 0;
  double seconds() const { return pass_seconds + transfer_seconds; }
  std::size_t transfers() const { return transfers_within + transfers_between; }
};
[[nodiscard]] ScheduleCost cost_of(const SelectionProblem& problem, const Schedule& schedule);

// A transfer of contents, before a pass touches a tensor; layer -1: before the host itself does.
struct ScheduledTransfer {
  int layer = -1;
  Pass pass = Pass::kForward;
  ProcessorId processor = kSecondProcessor;
  bool takes = false;  // from the host to the processor; otherwise the other way round
  std::string tensor;
  std::size_t bytes = 0;
};
[[nodiscard]] std::vector<ScheduledTransfer> transfers_in(const SelectionProblem& problem,
                                                          const Schedule& schedule);

enum class SelectionMethod : std::uint8_t {
  kCpu,
  kElsewhere,  // whatever can be, on the fastest of the others
  kStepWise,   // each pass where it is fastest, whatever the transfers: the paper's baseline
  kLayerWise,  // Algorithm 1: each layer's cheapest combination, transfers between its own passes
               // included
  kPath,       // the cheapest whole schedule, transfers between layers included
};
inline constexpr std::array kSelectionMethods = {
    SelectionMethod::kCpu, SelectionMethod::kElsewhere, SelectionMethod::kStepWise,
    SelectionMethod::kLayerWise, SelectionMethod::kPath};
std::string_view to_string(SelectionMethod method);  // "cpu", "opencl", "step_wise", ...
// Throws kInvalidArgument for an unknown name, with the known ones.
[[nodiscard]] SelectionMethod selection_method(std::string_view name);

// kPath is exact if no more than kMostStates combinations of layers that share tensors with
// layers to come are open at a time, as on chains and residual networks; beyond that it keeps the
// cheapest, and is never worse than the others.
[[nodiscard]] Schedule select(const SelectionProblem& problem, SelectionMethod method);
inline constexpr std::size_t kMostStates = 4096;

}  // namespace moil
