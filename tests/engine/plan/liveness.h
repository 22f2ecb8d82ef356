// What lives when, told from the graph and from what its layers mean; the plan is not asked.
//
// For tests of plans: the steps that are needed, and for each tensor the steps between its first
// write and its last read. Time counts the needed steps.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/plan/network_plan.h"

namespace moil::test {

struct ExpectedStep {
  StepKind kind;
  int node;
  friend bool operator==(const ExpectedStep&, const ExpectedStep&) = default;
};

// A tensor with the ids by which a plan knows it (several if they are the same data).
struct LiveTensor {
  std::string name;
  std::vector<TensorId> ids;
  std::size_t bytes = 0;
  int first = 0, last = 0;
  int may_lie_over = -1;  // another tensor's index, which the step at `first` may overwrite
};

struct Liveness {
  std::vector<ExpectedStep> steps;
  std::vector<LiveTensor> tensors;

  // The largest sum of live bytes over time, if all that may share memory does: no plan can be
  // smaller.
  std::size_t lower_bound_bytes() const;
};

// The plan is read for the ids of tensors, and for what layers say of their own memory (sizes of
// saved tensors and workspaces, which steps they make no work of).
Liveness liveness_of(const Graph& graph, const PlanOptions& options, const NetworkPlan& plan);

// Where a plan puts a tensor.
std::size_t offset_of(const NetworkPlan& plan, TensorId id);

}  // namespace moil::test
