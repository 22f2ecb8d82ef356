// Values that wait for backward in bf16 (half their bytes) instead of float32.
#pragma once

#include "engine/model/graph.h"
#include "engine/plan/program.h"

namespace moil {

// For every large value that F leaves and backward reads: an instruction behind the step that
// writes it narrows it, and one before its first use behind F widens it into a tensor of its own.
// The forward pass computes with float32 as before; what backward reads is rounded to 8 bits of
// mantissa. Inputs and outputs of the model stay as they are.
void narrow_saved(const Graph& graph, const std::vector<NodePlan>& nodes, Program& program,
                  TensorPool& pool);

}  // namespace moil
