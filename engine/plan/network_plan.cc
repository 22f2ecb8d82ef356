#include "engine/plan/network_plan.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/index.h"
#include "engine/device/processor.h"
#include "engine/plan/backward_needs.h"
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
    if (options_.processor) plan_.pool.align(options_.processor->alignment());
    for (int i = 0; i < nodes(); ++i) plan_layer(i);
    set_orders();
    add_values();
    add_derivatives();
    for (int i = 0; i < nodes(); ++i) add_own_tensors(i);
    keep_inputs_and_outputs();
    if (!options_.share_memory) keep_all_apart();
    plan_.pool.merge();
    schedule();
    place();
    if (options_.processor) plan_hand_over();
    return std::move(plan_);
  }

 private:
  int nodes() const { return static_cast<int>(graph_.nodes.size()); }
  const Node& node(int i) const { return graph_.nodes[at(i)]; }
  const Value& value(int v) const { return graph_.values[at(v)]; }

  void plan_layer(int i) {
    LayerSetup setup{graph_.input_infos(node(i)),
                     graph_.output_infos(node(i)),
                     options_.training,
                     needs_.trained[at(i)],
                     {},
                     &kernels_,
                     limits_[at(i)],
                     options_.pack_convolutions,
                     is_assigned(i, StepKind::kForward)};
    for (const int v : node(i).inputs)
      setup.input_needs_derivative.push_back(needs_.derivative[at(v)]);
    NodeTensors& t = plan_.nodes[at(i)];
    t.plan = node(i).layer->plan(setup);
    t.plan.inputs.resize(setup.inputs.size(), Lifespan::kForward);
    t.plan.outputs.resize(setup.outputs.size(), Lifespan::kNone);
    t.computes_gradient = setup.computes_gradient();
    t.computes_derivative = setup.computes_derivative();
    if (options_.processor) send_elsewhere(i);
  }

  bool is_assigned(int i, StepKind kind) const {
    return options_.processor && is_elsewhere(options_.assignment, node(i).name, kind);
  }

  // What the processor has no way of computing stays here.
  void send_elsewhere(int i) {
    NodeTensors& t = plan_.nodes[at(i)];
    const auto send = [&](StepKind kind, bool is_computed, std::size_t& workspace) {
      if (!is_computed || !is_assigned(i, kind)) return;
      std::unique_ptr<ProcessorStep> step;
      try {
        step = options_.processor->make_step(node(i).layer->operation(), kind);
      } catch (const ProcessorError& error) {
        plan_.refused.push_back(node(i).name + " " + to_string(kind) + ": " + error.what());
      }
      if (!step) return;
      workspace = step->workspace_bytes();
      t.elsewhere[static_cast<std::size_t>(kind)] = std::move(step);
    };
    send(StepKind::kForward, has_forward_work(t), t.plan.forward_workspace);
    send(StepKind::kComputeGradient, t.computes_gradient, t.plan.gradient_workspace);
    send(StepKind::kComputeDerivative, has_derivative_work(t), t.plan.derivative_workspace);
    t.updates_elsewhere = options_.updates_elsewhere && is_assigned(i, StepKind::kApplyGradient);
  }

  void plan_hand_over() {
    const auto tensors = [&](const std::vector<int>& values) {
      std::vector<TensorId> ids;
      for (const int v : values) ids.push_back(plan_.values[at(v)]);
      return ids;
    };
    plan_.processor = plan_processor(plan_, *options_.processor, tensors(graph_.inputs),
                                     tensors(graph_.outputs), options_.orders.clip_by_global_norm);
  }

  void set_orders() {
    std::vector<bool> trainable;
    for (const NodeTensors& t : plan_.nodes) trainable.push_back(t.computes_gradient);
    const auto orders = execution_orders(trainable, options_.orders);
    for (int i = 0; i < nodes(); ++i) {
      const StepOrders& o = plan_.nodes[at(i)].orders = orders[at(i)];
      plan_.last_order = std::max(plan_.last_order, o.forward);
      if (options_.training)
        plan_.last_order = std::max({plan_.last_order, o.compute_derivative, o.apply_gradient});
    }
  }

  // The orders of those steps in `lifespan` that node i runs. F writes, unless said otherwise; so
  // do the backward steps.
  void use_in_steps(TensorId id, int i, Lifespan lifespan, Access in_forward = Access::kWrite,
                    Access in_backward = Access::kWrite) {
    const NodeTensors& t = plan_.nodes[at(i)];
    if (has(lifespan, Lifespan::kMax)) plan_.pool.use_always(id);
    if (has(lifespan, Lifespan::kForward)) plan_.pool.use(id, t.orders.forward, in_forward);
    if (has(lifespan, Lifespan::kComputeGradient) && t.computes_gradient)
      plan_.pool.use(id, t.orders.compute_gradient, in_backward);
    if (has(lifespan, Lifespan::kComputeDerivative) && t.computes_derivative)
      plan_.pool.use(id, t.orders.compute_derivative, in_backward);
    if (has(lifespan, Lifespan::kApplyGradient) && t.computes_gradient)
      plan_.pool.use(id, t.orders.apply_gradient, in_backward);
    if (has(lifespan, Lifespan::kIteration)) {
      plan_.pool.use(id, t.orders.forward, in_forward);
      plan_.pool.use(id, plan_.last_order, in_backward);
    }
  }

  TensorId add(const std::string& name, TensorInfo info, TensorKind kind,
               CreateMode mode = CreateMode::kCreate, TensorId target = kNoTensor) {
    return plan_.pool.add({name, info, kind, mode, target});
  }

  TensorId add_bytes(const std::string& name, std::size_t bytes, TensorKind kind) {
    return add(name, {Dims{static_cast<std::int64_t>((bytes + 3) / 4)}, Layout::kPlain}, kind);
  }

  // What a tensor is the same data as.
  TensorId data_of(TensorId id) const {
    while (id != kNoTensor && plan_.pool.spec(id).mode == CreateMode::kReadOnlyView)
      id = plan_.pool.spec(id).target;
    return id;
  }

  // Whether a step may write over the first of the tensors that it reads: not if it reads the
  // same data by another name too.
  bool may_write_over_first(const std::vector<TensorId>& read) const {
    return std::none_of(read.begin() + 1, read.end(),
                        [&](TensorId id) { return data_of(id) == data_of(read[0]); });
  }

  static CreateMode mode_of(InPlace wish) {
    return wish == InPlace::kSameData ? CreateMode::kReadOnlyView : CreateMode::kModifyView;
  }

  void add_values() {
    plan_.values.assign(graph_.values.size(), kNoTensor);
    for (const int v : graph_.inputs)
      plan_.values[at(v)] = add(value(v).name, value(v).info, TensorKind::kInput);
    for (int i = 0; i < nodes(); ++i) {
      NodeTensors& t = plan_.nodes[at(i)];
      for (std::size_t s = 0; s < node(i).inputs.size(); ++s) {
        t.inputs.push_back(plan_.values[at(node(i).inputs[s])]);
        use_in_steps(t.inputs.back(), i, t.plan.inputs[s] | Lifespan::kForward, Access::kRead,
                     Access::kRead);
      }
      for (std::size_t s = 0; s < node(i).outputs.size(); ++s) {
        const Value& out = value(node(i).outputs[s]);
        const bool shares =
            t.plan.in_place == InPlace::kSameData ||
            (t.plan.in_place == InPlace::kModify && s == 0 && may_write_over_first(t.inputs));
        const TensorId id = shares ? add(out.name, out.info, TensorKind::kActivation,
                                         mode_of(t.plan.in_place), t.inputs.at(0))
                                   : add(out.name, out.info, TensorKind::kActivation);
        use_in_steps(id, i, t.plan.outputs[s] | Lifespan::kForward, Access::kWrite, Access::kRead);
        plan_.values[at(node(i).outputs[s])] = id;
        t.outputs.push_back(id);
      }
    }
  }

  // From the output to the input, so that a view's target is there before the view.
  void add_derivatives() {
    std::vector<TensorId> of_value(graph_.values.size(), kNoTensor);
    for (int i = nodes() - 1; i >= 0; --i) {
      NodeTensors& t = plan_.nodes[at(i)];
      for (const int v : node(i).outputs) {
        t.output_derivatives.push_back(of_value[at(v)]);
        if (of_value[at(v)] != kNoTensor)
          use_in_steps(of_value[at(v)], i, t.plan.output_derivatives, Access::kRead, Access::kRead);
      }
      for (std::size_t s = 0; s < node(i).inputs.size(); ++s) {
        const int v = node(i).inputs[s];
        t.input_derivatives.push_back(needs_.derivative[at(v)] ? add_derivative(i, s) : kNoTensor);
        if (!needs_.derivative[at(v)]) continue;
        if (of_value[at(v)] != kNoTensor) {
          throw Error(ErrorCode::kInternal,
                      "value \"" + value(v).name + "\" is read twice in a training graph");
        }
        of_value[at(v)] = t.input_derivatives.back();
      }
    }
  }

  TensorId add_derivative(int i, std::size_t slot) {
    const NodeTensors& t = plan_.nodes[at(i)];
    const Value& in = value(node(i).inputs[slot]);
    const std::string name = in.name + "/derivative";
    const TensorId from = t.output_derivatives.empty() ? kNoTensor : t.output_derivatives[0];
    const InPlace wish = t.plan.derivative_in_place;
    const bool shares =
        from != kNoTensor &&
        (wish == InPlace::kSameData ||
         (wish == InPlace::kModify && slot == 0 && may_write_over_first(t.output_derivatives)));
    const TensorId id = shares ? add(name, in.info, TensorKind::kDerivative, mode_of(wish), from)
                               : add(name, in.info, TensorKind::kDerivative);
    plan_.pool.use(id, t.orders.compute_derivative);
    return id;
  }

  void add_own_tensors(int i) {
    NodeTensors& t = plan_.nodes[at(i)];
    const std::string& name = node(i).name;
    for (std::size_t w = 0; w < node(i).weights.size(); ++w) add_weight(i, w);
    for (const SavedSpec& s : t.plan.saved) {
      t.saved.push_back(s.bytes == 0 ? kNoTensor
                                     : add_bytes(name + "/" + s.name, s.bytes, TensorKind::kSaved));
      if (s.bytes != 0) use_in_steps(t.saved.back(), i, s.lifespan);
    }
    t.forward_workspace = add_workspace(i, "F", t.plan.forward_workspace, Lifespan::kForward);
    t.gradient_workspace =
        add_workspace(i, "CG", t.plan.gradient_workspace, Lifespan::kComputeGradient);
    t.derivative_workspace =
        add_workspace(i, "CD", t.plan.derivative_workspace, Lifespan::kComputeDerivative);
  }

  void add_weight(int i, std::size_t w) {
    NodeTensors& t = plan_.nodes[at(i)];
    const WeightSpec& spec = node(i).weights[w];
    const std::string name = weight_name(node(i), spec);
    const TensorInfo info{spec.dims, Layout::kPlain};
    TensorId weight = kNoTensor;
    if (t.plan.keeps(w)) {
      weight = add(name, info, spec.trainable ? TensorKind::kWeight : TensorKind::kStatistic);
      plan_.pool.use_always(weight);
      const bool updates_itself = !spec.trainable && options_.training && t.plan.updates_statistics;
      use_in_steps(weight, i, t.plan.weights | Lifespan::kForward,
                   updates_itself ? Access::kWrite : Access::kRead, Access::kRead);
    }
    t.weights.push_back(weight);
    t.gradients.push_back(kNoTensor);
    t.states.emplace_back();
    if (!needs_.trained[at(i)][w]) return;
    use_in_steps(weight, i, Lifespan::kApplyGradient);
    t.gradients.back() = add(name + "/gradient", info, TensorKind::kGradient);
    use_in_steps(t.gradients.back(), i, Lifespan::kComputeGradient | Lifespan::kApplyGradient);
    if (options_.accumulate_gradients) plan_.pool.use_always(t.gradients.back());
    for (int s = 0; s < options_.optimizer_states; ++s) {
      t.states.back().push_back(
          add(name + "/state" + std::to_string(s), info, TensorKind::kOptimizerState));
      plan_.pool.use_always(t.states.back().back());
      use_in_steps(t.states.back().back(), i, Lifespan::kApplyGradient);
    }
  }

  TensorId add_workspace(int i, const char* step, std::size_t bytes, Lifespan lifespan) {
    if (bytes == 0) return kNoTensor;
    const TensorId id =
        add_bytes(node(i).name + "/workspace " + step, bytes, TensorKind::kWorkspace);
    use_in_steps(id, i, lifespan);
    return id;
  }

  void keep_inputs_and_outputs() {
    for (const int v : graph_.inputs) plan_.pool.use(plan_.values[at(v)], 0);
    for (const int v : graph_.outputs) plan_.pool.use(plan_.values[at(v)], plan_.last_order);
  }

  // What lives always shares nothing, views of the same data aside.
  void keep_all_apart() {
    for (TensorId id = 0; id < static_cast<TensorId>(plan_.pool.size()); ++id)
      plan_.pool.use_always(id);
  }

  std::map<TensorId, std::size_t> lean_workspaces() const {
    std::map<TensorId, std::size_t> bytes;
    const auto add = [&](TensorId id, TensorId lean) {
      if (id == kNoTensor) return;
      bytes[id] = lean == kNoTensor ? 0 : lean_->pool.spec(lean).info.bytes();
    };
    for (int i = 0; lean_ != nullptr && i < nodes(); ++i) {
      const NodeTensors &t = plan_.nodes[at(i)], &l = lean_->nodes[at(i)];
      add(t.forward_workspace, l.forward_workspace);
      add(t.gradient_workspace, l.gradient_workspace);
      add(t.derivative_workspace, l.derivative_workspace);
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
    plan_.stays = plan_stays(plan_.pool, plan_.last_order, options_.swap, lean_workspaces(), slack);
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
    plan_.lower_bound_bytes = moil::lower_bound_bytes(memory_requests(plan_.pool, plan_.stays));
  }

  bool has_forward_work(const NodeTensors& t) const {
    return t.plan.in_place != InPlace::kSameData;
  }
  bool has_derivative_work(const NodeTensors& t) const {
    return t.computes_derivative && t.plan.derivative_in_place != InPlace::kSameData;
  }

  void schedule() {
    for (int i = 0; i < nodes(); ++i) {
      const NodeTensors& t = plan_.nodes[at(i)];
      const auto add = [&](int order, StepKind kind) {
        const bool elsewhere = kind == StepKind::kApplyGradient
                                   ? t.updates_elsewhere
                                   : t.elsewhere[static_cast<std::size_t>(kind)] != nullptr;
        plan_.steps.push_back({order, kind, i, elsewhere});
      };
      if (has_forward_work(t)) add(t.orders.forward, StepKind::kForward);
      if (!options_.training) continue;
      if (t.computes_gradient) {
        add(t.orders.compute_gradient, StepKind::kComputeGradient);
        add(t.orders.apply_gradient, StepKind::kApplyGradient);
      }
      if (has_derivative_work(t)) add(t.orders.compute_derivative, StepKind::kComputeDerivative);
    }
    std::stable_sort(plan_.steps.begin(), plan_.steps.end(),
                     [](const PlannedStep& a, const PlannedStep& b) {
                       return std::pair(a.order, a.kind) < std::pair(b.order, b.kind);
                     });
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

std::optional<std::size_t> NetworkPlan::stay_at(TensorId id, int order) const {
  const TensorId owner = pool.owner(id);
  for (std::size_t s = 0; s < stays.size(); ++s) {
    if (stays[s].owner == owner && stays[s].first <= order && order <= stays[s].last) return s;
  }
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
  int best = 0;
  std::size_t most = 0;
  for (int order = 0; order <= plan.last_order; ++order) {
    std::size_t sum = 0;
    for (const auto& [kind, bytes] : live_bytes(plan, order)) sum += bytes;
    if (sum > most) {
      most = sum;
      best = order;
    }
  }
  return best;
}

}  // namespace moil
