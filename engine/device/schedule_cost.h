// The parts of a schedule's cost: passes of layers, transfers of tensors.
#pragma once

#include <functional>
#include <vector>

#include "engine/device/selection.h"

namespace moil {

// All that a layer may be: of two processors 8, 4 without UP; fewer if one cannot compute a pass.
[[nodiscard]] std::vector<LayerSchedule> combinations_of(const SelectionLayer& layer);

[[nodiscard]] double pass_seconds(const SelectionLayer& layer, const LayerSchedule& schedule);

struct TensorTransfers {
  double seconds = 0;
  std::size_t within = 0, between = 0;  // of one layer, of layers
};
// costs: SelectionProblem::transfers. who: computes a touch of a layer's; the host's own are the
// CPU's.
[[nodiscard]] TensorTransfers transfers_of(
    const SelectionTensor& tensor, const std::vector<TransferCosts>& costs,
    const std::function<ProcessorId(const SelectionTouch&)>& who);

// Each layer's tensors with its own touches alone.
[[nodiscard]] std::vector<std::vector<SelectionTensor>> tensors_by_layer(
    const SelectionProblem& problem);

// Changes one layer's combination at a time while that makes the whole cheaper.
void improve(const SelectionProblem& problem, Schedule& schedule);

}  // namespace moil
