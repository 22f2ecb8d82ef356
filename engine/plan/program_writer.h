// Writes the program of a graph: the steps that are needed, in their order, and what each touches.
#pragma once

#include "engine/model/graph.h"
#include "engine/plan/program.h"

namespace moil {

struct ProgramOptions {
  bool training = false;
  // Every gradient is there before the first is applied.
  bool clip_by_global_norm = false;
};

// F of every node; in training CG, CD and AG from the last to the first (NNTrainer 2024 §3), or
// every AG behind all of them. No CG of what is not trained, no CD if nothing before it is trained,
// no step that has no work. nodes: with their tensors. A pure function.
[[nodiscard]] Program write_program(const Graph& graph, const std::vector<NodePlan>& nodes,
                                    const ProgramOptions& options);

}  // namespace moil
