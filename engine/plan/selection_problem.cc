#include "engine/plan/selection_problem.h"

#include "base/index.h"

namespace moil {
namespace {

// A pass is elsewhere if all of its steps are.
void add_step(SelectionLayer& layer, const Instruction& step, const StepSeconds& cpu,
              const StepSeconds& elsewhere) {
  auto& pass = layer.passes[at(static_cast<int>(pass_of(step.kind)))];
  if (!pass) pass = PassTimes{0, 0.0};
  const std::size_t kind = at(static_cast<int>(step.kind));
  pass->cpu += cpu[at(step.node)][kind];
  if (!step.elsewhere)
    pass->elsewhere.reset();
  else if (pass->elsewhere)
    *pass->elsewhere += elsewhere[at(step.node)][kind];
}

// The host's own touches have no layer.
void add_touches(SelectionProblem& problem, const std::vector<Touch>& touches, int layer,
                 Pass pass) {
  for (const Touch& touch : touches)
    problem.tensors[at(touch.range)].touches.push_back({layer, pass, touch.writes, touch.fresh});
}

}  // namespace

SelectionProblem selection_problem(const Graph& graph, const NetworkPlan& plan,
                                   const StepSeconds& cpu, const StepSeconds& elsewhere,
                                   const TransferCosts& transfers) {
  SelectionProblem problem;
  problem.transfers = transfers;
  for (const Node& node : graph.nodes) problem.layers.push_back({node.name, node.type, {}});
  for (const Instruction& step : plan.program)
    if (is_first_run(step)) add_step(problem.layers[at(step.node)], step, cpu, elsewhere);
  const ProcessorPlan& ranges = plan.processor;
  problem.tensors.resize(ranges.ranges.size());
  for (std::size_t s = 0; s < ranges.range_of_stay.size(); ++s) {
    if (ranges.range_of_stay[s] == kNoRange) continue;
    SelectionTensor& tensor = problem.tensors[at(ranges.range_of_stay[s])];
    tensor.name = plan.pool.spec(plan.stays[s].owner).name;
    tensor.bytes = ranges.ranges[at(ranges.range_of_stay[s])].bytes;
  }
  for (const RangeId range : ranges.persistent) problem.tensors[at(range)].persistent = true;
  add_touches(problem, ranges.before, -1, Pass::kForward);
  for (std::size_t s = 0; s < ranges.steps.size(); ++s) {
    const Pass pass = pass_of(plan.program[s].kind);
    add_touches(problem, ranges.steps[s].touches, plan.program[s].node, pass);
    add_touches(problem, ranges.steps[s].read_after, -1, pass);
  }
  add_touches(problem, ranges.after, -1, Pass::kForward);
  return problem;
}

SelectionProblem recorded_problem(const RecordedDevice& device, const ModelDescription& model,
                                  std::int64_t batch, const PlanOptions& options,
                                  KernelSelector& kernels, bool shares_memory) {
  if (device.network != model.name)
    throw Error(ErrorCode::kInvalidArgument, device.device + " was recorded with " +
                                                 device.network + ", not with " + model.name);
  const Graph graph = build_graph(model, batch);
  PlanOptions plan = options;
  plan.processor = make_recorded_processor(device, shares_memory);
  plan.assignment = everything_elsewhere(graph);
  const StepSeconds none(graph.nodes.size());
  SelectionProblem problem = selection_problem(graph, plan_network(graph, plan, kernels), none,
                                               none, TransferCosts{shares_memory, {}, {}});
  use_recorded_times(device, problem);
  return problem;
}

Assignment everything_elsewhere(const Graph& graph) {
  Assignment assignment;
  for (const Node& node : graph.nodes) assignment[node.name] = {true, true, true, true};
  return assignment;
}

Assignment assignment_of(const Graph& graph, const Schedule& schedule) {
  Assignment assignment;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    StepsElsewhere steps{};
    bool any = false;
    for (int kind = 0; kind < kStepKinds; ++kind) {
      const Pass pass = pass_of(static_cast<StepKind>(kind));
      steps[at(kind)] = schedule[i][at(static_cast<int>(pass))];
      any = any || steps[at(kind)];
    }
    if (any) assignment[graph.nodes[i].name] = steps;
  }
  return assignment;
}

}  // namespace moil
