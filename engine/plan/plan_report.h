// What a plan says about memory: how much, of what, when, and what would need less.
//
// Pure functions of a plan; thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/plan/network_plan.h"

namespace moil {

// One tensor (or one stay of it) in the pool: its addresses over its life.
struct PlanBox {
  std::string name;
  TensorKind kind = TensorKind::kActivation;
  int first = 0, last = 0;            // execution orders
  std::size_t offset = 0, bytes = 0;  // in the pool
};
[[nodiscard]] std::vector<PlanBox> plan_boxes(const NetworkPlan& plan);

struct PlanReport {
  std::size_t planned_bytes = 0;
  std::size_t lower_bound_bytes = 0;
  std::size_t sorting_bytes = 0;              // what the reference planner would need
  int peak_order = 0;                         // where live bytes are most
  std::string peak_step;                      // "CG of stem.conv"
  std::map<TensorKind, std::size_t> at_peak;  // live bytes there; they sum to the bound
  std::map<TensorKind, std::size_t> totals;   // of all owners, living together or not
  int orders = 0;                             // execution orders in an iteration
};
[[nodiscard]] PlanReport report_plan(const Graph& graph, const NetworkPlan& plan);

// The step that runs at an order: "F of conv1"; empty if none does.
[[nodiscard]] std::string step_at(const Graph& graph, const NetworkPlan& plan, int order);

}  // namespace moil
