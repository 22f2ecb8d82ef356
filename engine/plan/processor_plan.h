// What a plan has to hand over between a processor and the host, and when.
//
// A stay that a step of the processor's touches, or that shares bytes with one that is, is a range:
// it passes from hand to hand (device/hand_over.h). The processor has nothing to do with the rest
// of the pool. Each processor has a plan of its own, to which every other one is the host: what
// goes from one to another passes by the host's memory. A transfer has the order of the step that
// waits for it. Pure functions; thread-safe.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/device/assignment.h"
#include "engine/device/hand_over.h"
#include "engine/tensor/spec.h"

namespace moil {

struct NetworkPlan;
class Processor;

// What a step touches, in the order of the plan's steps, and whose life is over after it.
struct StepTouches {
  std::vector<Touch> touches;
  std::vector<Touch> read_after;  // by the host: gradients that are to be clipped
  std::vector<RangeId> ends;
};

// A transfer that moves contents, in an iteration that follows another.
struct PlannedTransfer {
  int step = 0;  // the index of the plan's step before which it happens; steps.size(): at the end
  RangeId range = kNoRange;
  Transfer transfer = Transfer::kNone;
  std::size_t bytes = 0;
};

struct ProcessorPlan {
  std::vector<MemoryRange> ranges;
  std::vector<RangeId> range_of_stay;  // one a stay; empty if there are no ranges
  std::vector<StepTouches> steps;      // one a step of the plan
  // The host's before the first step; they may lie where outputs did that are yet to be read.
  std::vector<RangeId> inputs;
  std::vector<Touch> after;  // by the host, after the last step: outputs
  // By order: what the host writes while it loads from the swap file. Empty without swap.
  std::vector<std::vector<Touch>> loads;
  std::vector<bool> stored;        // of each range: whether it goes to the swap file at its end
  std::vector<RangeId> transient;  // nobody's between iterations
  std::vector<RangeId> persistent;
  std::size_t device_bytes = 0;  // of memory of the processor's own, if it shares none
  std::vector<PlannedTransfer> transfers;

  bool is_stored(RangeId range) const { return stored[static_cast<std::size_t>(range)]; }
  bool empty() const { return ranges.empty(); }
  RangeId range_at(std::size_t stay) const {
    return range_of_stay.empty() ? kNoRange : range_of_stay[stay];
  }
};

// The plan's tensors have their places. graph_inputs, graph_outputs: their tensors. clips:
// whether the host reads gradients after CG.
[[nodiscard]] ProcessorPlan plan_processor(const NetworkPlan& plan, ProcessorId id,
                                           const Processor& processor,
                                           const std::vector<TensorId>& graph_inputs,
                                           const std::vector<TensorId>& graph_outputs, bool clips);

}  // namespace moil
