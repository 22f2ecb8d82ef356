#include "engine/plan/network_plan.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/index.h"
#include "engine/device/processor.h"
#include "engine/plan/again.h"
#include "engine/plan/backward_needs.h"
#include "engine/plan/graph_tensors.h"
#include "engine/plan/narrowing.h"
#include "engine/plan/program_writer.h"
#include "engine/plan/workspace_limits.h"

namespace moil {
namespace {

// What a plan may take at most, given the one of the leanest kernels.
std::size_t most_bytes(const NetworkPlan& lean, const PlanOptions& options) {
  return std::max(lean.memory.total_bytes, options.memory_budget_bytes);
}

class Planner {
 public:
  Planner(const Graph& graph, const PlanOptions& options, KernelSelector& kernels,
          const WorkspaceLimits& limits, const NetworkPlan* lean = nullptr)
      : graph_(graph),
        options_(options),
        kernels_(kernels),
        limits_(limits),
        lean_(lean),
        needs_(backward_needs(graph, options.trainable)) {}

  NetworkPlan run() {
    plan_.trains = options_.training;
    plan_.nodes.resize(graph_.nodes.size());
    for (const auto& p : options_.processors) plan_.pool.align(p->alignment());
    for (int i = 0; i < nodes(); ++i) plan_layer(i);
    plan_.values =
        add_tensors(graph_, needs_, {options_.optimizer_states, options_.micro_batches > 1},
                    plan_.nodes, plan_.pool);
    plan_.program =
        write_program(graph_, plan_.nodes, {options_.training, options_.clip_by_global_norm});
    make_again(graph_, plan_.nodes, options_.again, plan_.program, plan_.pool);
    if (options_.training && options_.narrow_saved)
      narrow_saved(graph_, plan_.nodes, plan_.program, plan_.pool);
    describe_iteration();
    use_tensors();
    if (!options_.share_memory) keep_all_apart();
    plan_.pool.merge();
    place();
    plan_hand_overs();
    return std::move(plan_);
  }

 private:
  int nodes() const { return static_cast<int>(graph_.nodes.size()); }
  const Node& node(int i) const { return graph_.nodes[at(i)]; }

  // A layer that packs its weights for its own code plans again if the processor that was to
  // compute F has no way of computing it.
  void plan_layer(int i) {
    const bool assigned = assigned_to(i, StepKind::kForward) != kCpu;
    ask_layer(i, assigned);
    send_elsewhere(i);
    if (!assigned || plan_.nodes[at(i)].elsewhere[0] || options_.training) return;
    ask_layer(i, /*forward_elsewhere=*/false);
  }

  void ask_layer(int i, bool forward_elsewhere) {
    LayerSetup setup{graph_.input_infos(node(i)),
                     graph_.output_infos(node(i)),
                     options_.training,
                     needs_.trained[at(i)],
                     {},
                     &kernels_,
                     limits_[at(i)],
                     options_.pack_convolutions,
                     forward_elsewhere,
                     options_.micro_batches};
    for (const WeightSpec& spec : node(i).weights)
      setup.dense_gradient.push_back(spec.shared || !options_.row_gradients);
    for (const int v : node(i).inputs)
      setup.input_needs_derivative.push_back(needs_.derivative[at(v)]);
    NodePlan& n = plan_.nodes[at(i)];
    n.layer = node(i).layer->plan(setup);
    n.layer.inputs.resize(setup.inputs.size(), Lifespan::kForward);
    n.layer.outputs.resize(setup.outputs.size(), Lifespan::kNone);
    n.computes_gradient = setup.computes_gradient();
    n.computes_derivative = setup.computes_derivative();
  }

  ProcessorId assigned_to(int i, StepKind kind) const {
    const ProcessorId id = processor_of(options_.assignment, node(i).name, kind);
    if (id > options_.processors.size())
      throw Error(ErrorCode::kInvalidArgument, node(i).name + " is assigned to processor " +
                                                   std::to_string(id) + ", which the plan lacks");
    return id;
  }

  // What a processor has no way of computing stays here.
  void send_elsewhere(int i) {
    NodePlan& n = plan_.nodes[at(i)];
    const auto send = [&](StepKind kind, bool is_computed, std::size_t& workspace) {
      const ProcessorId id = assigned_to(i, kind);
      if (!is_computed || id == kCpu) return;
      std::unique_ptr<ProcessorStep> step;
      try {
        step = options_.processors[at(id - 1)]->make_step(node(i).layer->operation(), kind);
      } catch (const ProcessorError& error) {
        plan_.refused.push_back(node(i).name + " " + to_string(kind) + ": " + error.what());
      }
      if (!step) return;
      workspace = step->workspace_bytes();
      n.processors[static_cast<std::size_t>(kind)] = id;
      n.elsewhere[static_cast<std::size_t>(kind)] = std::move(step);
    };
    send(StepKind::kForward, n.has_forward_work(), n.layer.forward_workspace);
    send(StepKind::kComputeGradient, n.computes_gradient && !has_special_gradients(i),
         n.layer.gradient_workspace);
    send(StepKind::kComputeDerivative, n.has_derivative_work(), n.layer.derivative_workspace);
    if (options_.updates_elsewhere && !has_special_gradients(i))
      n.processors[static_cast<std::size_t>(StepKind::kApplyGradient)] =
          assigned_to(i, StepKind::kApplyGradient);
  }

  // Gradients of rows, and of weights that several nodes have, are the CPU's.
  bool has_special_gradients(int i) const {
    for (std::size_t w = 0; w < node(i).weights.size(); ++w)
      if (node(i).weights[w].shared || plan_.nodes[at(i)].layer.rows_of_gradient(w) > 0)
        return true;
    return false;
  }

  void plan_hand_overs() {
    const auto tensors = [&](const std::vector<int>& values) {
      std::vector<TensorId> ids;
      for (const int v : values) ids.push_back(plan_.values[at(v)]);
      return ids;
    };
    for (std::size_t p = 0; p < options_.processors.size(); ++p)
      plan_.processors.push_back(plan_processor(
          plan_, static_cast<ProcessorId>(p + 1), *options_.processors[p], tensors(graph_.inputs),
          tensors(graph_.outputs), options_.clip_by_global_norm));
  }

  // Gradients are applied in the last pass of a step alone.
  void describe_iteration() {
    plan_.iteration.last_order = std::max(static_cast<int>(plan_.program.size()) - 1, 0);
    plan_.iteration.passes = options_.micro_batches;
    for (const Instruction& step : plan_.program)
      plan_.iteration.once.push_back(step.kind == StepKind::kApplyGradient);
  }

  // As the instructions do, and the host, which writes inputs and reads outputs.
  void use_tensors() {
    for (std::size_t order = 0; order < plan_.program.size(); ++order)
      for (const Operand& operand : plan_.program[order].operands)
        plan_.pool.use(operand.tensor, static_cast<int>(order), operand.access);
    for (const int v : graph_.inputs) plan_.pool.use(plan_.values[at(v)], 0);
    for (const int v : graph_.outputs) plan_.pool.use(plan_.values[at(v)], plan_.last_order());
  }

  // What lives always shares nothing, views of the same data aside.
  void keep_all_apart() {
    for (TensorId id = 0; id < static_cast<TensorId>(plan_.pool.size()); ++id)
      plan_.pool.use_always(id);
  }

  std::map<TensorId, std::size_t> lean_workspaces() const {
    std::map<TensorId, std::size_t> bytes;
    for (int i = 0; lean_ != nullptr && i < nodes(); ++i) {
      for (std::size_t k = 0; k < plan_.nodes[at(i)].workspaces.size(); ++k) {
        const TensorId id = plan_.nodes[at(i)].workspaces[k];
        const TensorId lean = lean_->nodes[at(i)].workspaces[k];
        if (id != kNoTensor)
          bytes[id] = lean == kNoTensor ? 0 : lean_->pool.spec(lean).info.bytes();
      }
    }
    return bytes;
  }

  // Otherwise plan_stays() heeds no slack.
  bool windows_grow() const {
    const SwapOptions& swap = options_.swap;
    return lean_ != nullptr && swap.mode == SwapMode::kProactive && swap.budget_bytes > 0 &&
           !swap.times.order_seconds.empty();
  }

  void place(double slack) {
    plan_.stays = plan_stays(plan_.pool, plan_.iteration, options_.swap, lean_workspaces(), slack);
    plan_.memory = plan_residency(plan_.pool, plan_.stays);
  }

  void place() {
    if (options_.swap.mode != SwapMode::kOff && !(options_.training && options_.share_memory))
      throw Error(ErrorCode::kInvalidArgument, "swap is for training alone");
    // Loads that begin early may leave a layout with larger holes: then they begin later.
    constexpr double kSlacks[] = {2.0, 1.5, 1.25, 1.0};
    const bool fits =
        windows_grow() && std::any_of(std::begin(kSlacks), std::end(kSlacks), [this](double slack) {
          place(slack);
          return plan_.memory.total_bytes <= most_bytes(*lean_, options_);
        });
    if (!fits) place(/*slack=*/0);
    index_stays();
    plan_.lower_bound_bytes = moil::lower_bound_bytes(memory_requests(plan_.pool, plan_.stays));
  }

  // An owner's stays are neighbours.
  void index_stays() {
    plan_.first_stays.assign(plan_.pool.size(), plan_.stays.size());
    for (std::size_t s = plan_.stays.size(); s-- > 0;)
      plan_.first_stays[at(plan_.stays[s].owner)] = s;
  }

  const Graph& graph_;
  const PlanOptions& options_;
  KernelSelector& kernels_;
  const WorkspaceLimits& limits_;
  const NetworkPlan* lean_;  // the plan whose workspaces decide what is swapped; null: this one
  NetworkPlan plan_;
  const BackwardNeeds needs_;
};

}  // namespace

NetworkPlan plan_lean(const Graph& graph, const PlanOptions& options, KernelSelector& kernels) {
  return Planner(graph, options, kernels, WorkspaceLimits(graph.nodes.size(), {0, 0, 0})).run();
}

NetworkPlan plan_network(const Graph& graph, const PlanOptions& options, KernelSelector& kernels) {
  if (!options.training)
    return Planner(graph, options, kernels, WorkspaceLimits(graph.nodes.size())).run();
  const NetworkPlan lean = plan_lean(graph, options, kernels);
  const WorkspaceLimits room = room_for_workspaces(graph, lean, most_bytes(lean, options));
  return Planner(graph, options, kernels, room, &lean).run();
}

std::pair<std::size_t, std::size_t> NetworkPlan::stays_of(TensorId owner) const {
  const std::size_t first = first_stays[at(owner)];
  std::size_t end = first;
  while (end < stays.size() && stays[end].owner == owner) ++end;
  return {first, end};
}

std::optional<std::size_t> NetworkPlan::stay_at(TensorId id, int order) const {
  const auto [first, end] = stays_of(pool.owner(id));
  for (std::size_t s = first; s < end; ++s)
    if (stays[s].first <= order && order <= stays[s].last) return s;
  return std::nullopt;
}

std::optional<std::size_t> NetworkPlan::offset_at(TensorId id, int order) const {
  const auto stay = stay_at(id, order);
  if (!stay) return std::nullopt;
  return memory.offsets[*stay];
}

std::map<TensorKind, std::size_t> live_bytes(const NetworkPlan& plan, int order) {
  std::map<TensorKind, std::size_t> bytes;
  const auto requests = memory_requests(plan.pool, plan.stays);
  for (std::size_t s = 0; s < plan.stays.size(); ++s) {
    if (requests[s].first <= order && order <= requests[s].last)
      bytes[plan.pool.spec(plan.stays[s].owner).kind] += aligned(requests[s].bytes);
  }
  return bytes;
}

int peak_order(const NetworkPlan& plan) {
  // What begins and ends at each order.
  std::vector<std::size_t> begins(at(plan.last_order()) + 2, 0), ends(begins.size(), 0);
  for (const MemoryRequest& request : memory_requests(plan.pool, plan.stays)) {
    begins[at(request.first)] += aligned(request.bytes);
    ends[at(request.last) + 1] += aligned(request.bytes);
  }
  int best = 0;
  std::size_t live = 0, most = 0;
  for (int order = 0; order <= plan.last_order(); ++order) {
    live += begins[at(order)] - ends[at(order)];
    if (live > most) most = live, best = order;
  }
  return best;
}

}  // namespace moil
