#include "engine/plan/selection_problem.h"

#include <optional>
#include <set>

#include "base/index.h"

namespace moil {
namespace {

// A processor has a way of computing a pass if it has one of computing all of its steps.
std::vector<std::array<std::optional<double>, kPasses>> pass_seconds_of(const NetworkPlan& plan,
                                                                        ProcessorId id,
                                                                        const StepSeconds& steps) {
  std::vector<std::array<std::optional<double>, kPasses>> seconds(steps.size());
  std::vector<std::array<bool, kPasses>> lacks(steps.size());
  for (const Instruction& step : plan.program) {
    if (!is_first_run(step)) continue;
    const std::size_t pass = at(static_cast<int>(pass_of(step.kind)));
    auto& sum = seconds[at(step.node)][pass];
    sum = sum.value_or(0) + steps[at(step.node)][at(static_cast<int>(step.kind))];
    if (id != kCpu && step.processor != id) lacks[at(step.node)][pass] = true;
  }
  for (std::size_t node = 0; node < lacks.size(); ++node)
    for (std::size_t pass = 0; pass < kPasses; ++pass)
      if (lacks[node][pass]) seconds[node][pass].reset();
  return seconds;
}

void add_times(SelectionProblem& problem, const NetworkPlan& plan, ProcessorId id,
               const StepSeconds& steps) {
  const auto seconds = pass_seconds_of(plan, id, steps);
  for (std::size_t node = 0; node < seconds.size(); ++node) {
    for (std::size_t p = 0; p < kPasses; ++p) {
      auto& pass = problem.layers[node].passes[p];
      if (!seconds[node][p]) continue;
      if (!pass) pass.emplace();
      (*pass)[id] = seconds[node][p];
    }
  }
}

// A plan's ranges, in its order, with whoever touches them.
class TensorsOf {
 public:
  TensorsOf(const NetworkPlan& plan, const ProcessorPlan& ranges)
      : plan_(plan), ranges_(ranges), tensors_(ranges.ranges.size()) {}

  std::vector<SelectionTensor> run() {
    for (std::size_t s = 0; s < ranges_.range_of_stay.size(); ++s) {
      if (ranges_.range_of_stay[s] == kNoRange) continue;
      SelectionTensor& tensor = tensors_[at(ranges_.range_of_stay[s])];
      tensor.name = plan_.pool.spec(plan_.stays[s].owner).name;
      tensor.bytes = ranges_.ranges[at(ranges_.range_of_stay[s])].bytes;
    }
    for (const RangeId range : ranges_.persistent) tensors_[at(range)].persistent = true;
    for (const RangeId range : ranges_.inputs) add({{range, true, true}}, kHost, Pass::kForward);
    for (std::size_t s = 0; s < ranges_.steps.size(); ++s) {
      const Pass pass = pass_of(plan_.program[s].kind);
      add(ranges_.steps[s].touches, plan_.program[s].node, pass);
      add(ranges_.steps[s].read_after, kHost, pass);
    }
    add(ranges_.after, kHost, Pass::kForward);
    return std::move(tensors_);
  }

 private:
  static constexpr int kHost = -1;  // no layer
  void add(const std::vector<Touch>& touches, int layer, Pass pass) {
    for (const Touch& touch : touches)
      tensors_[at(touch.range)].touches.push_back({layer, pass, touch.writes, touch.fresh});
  }

  const NetworkPlan& plan_;
  const ProcessorPlan& ranges_;
  std::vector<SelectionTensor> tensors_;
};

}  // namespace

SelectionProblem selection_problem(const Graph& graph, const StepSeconds& cpu,
                                   const std::vector<MeasuredProcessor>& others) {
  SelectionProblem problem;
  for (const Node& node : graph.nodes) problem.layers.push_back({node.name, node.type, {}});
  std::set<std::string> known;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const MeasuredProcessor& other = others[i];
    const auto id = static_cast<ProcessorId>(i + 1);
    add_times(problem, other.plan, kCpu, cpu);
    add_times(problem, other.plan, id, other.seconds);
    problem.transfers.push_back(other.transfers);
    for (SelectionTensor& tensor : TensorsOf(other.plan, other.plan.processors[i]).run())
      if (known.insert(tensor.name).second) problem.tensors.push_back(std::move(tensor));
  }
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
  plan.processors = {make_recorded_processor(device, shares_memory)};
  plan.assignment = everything_on(kSecondProcessor, graph);
  const StepSeconds none(graph.nodes.size());
  const NetworkPlan planned = plan_network(graph, plan, kernels);
  SelectionProblem problem =
      selection_problem(graph, none, {{planned, none, {shares_memory, {}, {}}}});
  use_recorded_times(device, problem);
  return problem;
}

Assignment everything_on(ProcessorId processor, const Graph& graph) {
  Assignment assignment;
  for (const Node& node : graph.nodes) assignment[node.name] = all_steps_on(processor);
  return assignment;
}

Assignment assignment_of(const Graph& graph, const Schedule& schedule) {
  Assignment assignment;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    StepProcessors steps{};
    bool any = false;
    for (int kind = 0; kind < kStepKinds; ++kind) {
      const Pass pass = pass_of(static_cast<StepKind>(kind));
      steps[at(kind)] = schedule[i][at(static_cast<int>(pass))];
      any = any || steps[at(kind)] != kCpu;
    }
    if (any) assignment[graph.nodes[i].name] = steps;
  }
  return assignment;
}

}  // namespace moil
