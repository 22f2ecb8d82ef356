// The tensors of a graph: values, derivatives, weights with their gradients and optimizer states,
// and what layers save and need as workspace.
#pragma once

#include <set>
#include <vector>

#include "engine/model/graph.h"
#include "engine/plan/backward_needs.h"
#include "engine/plan/node_plan.h"
#include "engine/tensor/tensor_pool.h"

namespace moil {

struct GraphTensorOptions {
  int optimizer_states = 0;           // tensors per trained weight
  bool accumulate_gradients = false;  // several micro-batches a step: gradients live always
};

// Adds them to the pool and names them in `nodes`, whose layers have planned. A layer that may work
// in place gets views; the pool decides whether they share memory. Gives the data tensor of each
// value. Throws kInternal for a value of a training graph that two nodes read.
[[nodiscard]] std::vector<TensorId> add_tensors(const Graph& graph, const BackwardNeeds& needs,
                                                const GraphTensorOptions& options,
                                                std::vector<NodePlan>& nodes, TensorPool& pool);

// Values that the host reads behind the last step: the tensors that have their data. nodes: with
// their tensors.
[[nodiscard]] std::set<TensorId> output_data(const Graph& graph, const std::vector<NodePlan>& nodes,
                                             const TensorPool& pool);

}  // namespace moil
