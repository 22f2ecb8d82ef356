#include "engine/plan/plan_report.h"

namespace moil {

std::vector<PlanBox> plan_boxes(const NetworkPlan& plan) {
  std::vector<PlanBox> boxes;
  const auto requests = memory_requests(plan.pool, plan.stays);
  for (std::size_t r = 0; r < requests.size(); ++r) {
    const TensorSpec& spec = plan.pool.spec(plan.stays[r].owner);
    boxes.push_back({spec.name, spec.kind, requests[r].first, requests[r].last,
                     plan.memory.offsets[r], aligned(requests[r].bytes)});
  }
  return boxes;
}

std::string step_at(const Graph& graph, const NetworkPlan& plan, int order) {
  if (order < 0 || order >= static_cast<int>(plan.program.size())) return "";
  const Instruction& step = plan.program[static_cast<std::size_t>(order)];
  std::string what = std::string(to_string(step.kind)) + (step.again ? " again" : "");
  if (step.conversion != Conversion::kNone)
    what = step.conversion == Conversion::kNarrow ? "narrowing" : "widening";
  return what + " of " + graph.nodes[static_cast<std::size_t>(step.node)].name;
}

PlanReport report_plan(const Graph& graph, const NetworkPlan& plan) {
  PlanReport report;
  report.planned_bytes = plan.memory.total_bytes;
  report.lower_bound_bytes = plan.lower_bound_bytes;
  report.sorting_bytes =
      make_sorting_planner()->plan(memory_requests(plan.pool, plan.stays)).total_bytes;
  report.peak_order = peak_order(plan);
  report.peak_step = step_at(graph, plan, report.peak_order);
  report.at_peak = live_bytes(plan, report.peak_order);
  for (const PlanBox& box : plan_boxes(plan)) report.totals[box.kind] += box.bytes;
  report.orders = plan.last_order() + 1;
  return report;
}

}  // namespace moil
