#include "tests/engine/plan/paper_accounting.h"

#include <algorithm>
#include <vector>

#include "base/index.h"
#include "engine/model/graph.h"
#include "engine/tensor/tensor_pool.h"
#include "tests/engine/model/models.h"
#include "tests/engine/plan/execution_order.h"

namespace moil {
namespace {

class Accountant {
 public:
  explicit Accountant(Graph graph) : graph_(std::move(graph)) {}

  std::size_t most_bytes() {
    find_derivatives();
    for (int i = 0; i < nodes(); ++i) plan_layer(i);
    orders_ = execution_orders(trains_, {.form = OrderForm::k2022});
    for (const StepOrders& o : orders_)
      last_order_ = std::max({last_order_, o.compute_derivative, o.apply_gradient});
    add_inputs();
    for (int i = 0; i < nodes(); ++i) add_outputs(i);
    for (int i = nodes() - 1; i >= 0; --i) add_derivatives(i);
    for (int i = 0; i < nodes(); ++i) add_weights(i);
    pool_.merge();
    return lower_bound_bytes(pool_.requests());
  }

 private:
  int nodes() const { return static_cast<int>(graph_.nodes.size()); }
  const Node& node(int i) const { return graph_.nodes[at(i)]; }
  bool is_loss(int i) const { return i == nodes() - 1; }

  // Everything behind a weight.
  void find_derivatives() {
    needs_derivative_.assign(graph_.values.size(), false);
    for (const Node& n : graph_.nodes) {
      trains_.push_back(std::any_of(n.weights.begin(), n.weights.end(),
                                    [](const WeightSpec& w) { return w.trainable; }));
      bool needs = trains_.back();
      for (const int v : n.inputs) needs = needs || needs_derivative_[at(v)];
      for (const int v : n.outputs) needs_derivative_[at(v)] = needs;
    }
  }

  void plan_layer(int i) {
    LayerSetup setup{graph_.input_infos(node(i)),
                     graph_.output_infos(node(i)),
                     /*training=*/true,
                     {},
                     {},
                     &kernels_,
                     {}};
    for (const WeightSpec& w : node(i).weights) setup.train_weight.push_back(w.trainable);
    for (const int v : node(i).inputs)
      setup.input_needs_derivative.push_back(needs_derivative_[at(v)]);
    LayerPlan plan = node(i).layer->plan(setup);
    plan.inputs.resize(setup.inputs.size(), Lifespan::kForward);
    plan.outputs.resize(setup.outputs.size(), Lifespan::kNone);
    // Ours may reorder, from channels last; the papers' tensors lie as a flattened one does.
    if (node(i).type == "flatten") plan.in_place = plan.derivative_in_place = InPlace::kSameData;
    plans_.push_back(std::move(plan));
    derives_.push_back(setup.computes_derivative());
  }

  void use(TensorId id, int i, Lifespan steps) {
    const StepOrders& o = orders_[at(i)];
    if (has(steps, Lifespan::kForward)) pool_.use(id, o.forward);
    if (has(steps, Lifespan::kComputeGradient) && trains_[at(i)]) pool_.use(id, o.compute_gradient);
    if (has(steps, Lifespan::kComputeDerivative) && derives_[at(i)])
      pool_.use(id, o.compute_derivative);
  }

  // A tensor like the value, in the memory of `over` if the layer works so.
  TensorId add(const Value& value, TensorKind kind, InPlace wish, TensorId over) {
    if (wish == InPlace::kNo || over == kNoTensor) return pool_.add({value.name, value.info, kind});
    const CreateMode mode =
        wish == InPlace::kSameData ? CreateMode::kReadOnlyView : CreateMode::kModifyView;
    return pool_.add({value.name, value.info, kind, mode, over});
  }

  void add_inputs() {
    values_.assign(graph_.values.size(), kNoTensor);
    for (const int v : graph_.inputs) {
      values_[at(v)] = add(graph_.values[at(v)], TensorKind::kInput, InPlace::kNo, kNoTensor);
      pool_.use(values_[at(v)], 0);
      pool_.use(values_[at(v)], last_order_);
    }
  }

  void add_outputs(int i) {
    const LayerPlan& plan = plans_[at(i)];
    for (std::size_t s = 0; s < node(i).inputs.size(); ++s)
      use(values_[at(node(i).inputs[s])], i, plan.inputs[s] | Lifespan::kForward);
    if (is_loss(i)) return;
    for (std::size_t s = 0; s < node(i).outputs.size(); ++s) {
      const int v = node(i).outputs[s];
      const bool alone = s > 0 && plan.in_place != InPlace::kSameData;
      values_[at(v)] = add(graph_.values[at(v)], TensorKind::kActivation,
                           alone ? InPlace::kNo : plan.in_place, values_[at(node(i).inputs[0])]);
      use(values_[at(v)], i, plan.outputs[s] | Lifespan::kForward);
    }
  }

  // Those of the values that node i reads; those of its outputs are there.
  void add_derivatives(int i) {
    derivatives_.resize(graph_.values.size(), kNoTensor);
    const LayerPlan& plan = plans_[at(i)];
    for (const int v : node(i).outputs) {
      if (derivatives_[at(v)] != kNoTensor) use(derivatives_[at(v)], i, plan.output_derivatives);
    }
    const TensorId over = derivatives_[at(node(i).outputs[0])];
    for (std::size_t s = 0; s < node(i).inputs.size(); ++s) {
      const int v = node(i).inputs[s];
      if (!needs_derivative_[at(v)]) continue;
      const bool alone = s > 0 && plan.derivative_in_place != InPlace::kSameData;
      derivatives_[at(v)] = add(graph_.values[at(v)], TensorKind::kDerivative,
                                alone ? InPlace::kNo : plan.derivative_in_place, over);
      pool_.use(derivatives_[at(v)], orders_[at(i)].compute_derivative);
    }
  }

  void add_weights(int i) {
    for (const WeightSpec& spec : node(i).weights) {
      const TensorInfo info{spec.dims, Layout::kPlain};
      pool_.use_always(pool_.add({spec.name, info, TensorKind::kWeight}));
      if (!spec.trainable) continue;
      const TensorId gradient = pool_.add({spec.name, info, TensorKind::kGradient});
      pool_.use(gradient, orders_[at(i)].compute_gradient);
      pool_.use(gradient, orders_[at(i)].apply_gradient);
    }
  }

  Graph graph_;
  KernelSelector kernels_ = test::fixed_kernels();
  TensorPool pool_;
  std::vector<LayerPlan> plans_;
  std::vector<StepOrders> orders_;
  int last_order_ = 0;
  std::vector<bool> trains_, derives_;  // by node
  std::vector<bool> needs_derivative_;  // by value
  std::vector<TensorId> values_, derivatives_;
};

}  // namespace

std::size_t paper_bytes(const ModelDescription& model, const std::string& loss,
                        std::int64_t batch) {
  return Accountant(build_graph(test::prepared(model, loss), batch)).most_bytes();
}

}  // namespace moil
