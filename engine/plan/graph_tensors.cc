#include "engine/plan/graph_tensors.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/error.h"
#include "base/index.h"

namespace moil {
namespace {

class TensorAdder {
 public:
  TensorAdder(const Graph& graph, const BackwardNeeds& needs, const GraphTensorOptions& options,
              std::vector<NodePlan>& nodes, TensorPool& pool)
      : graph_(graph), needs_(needs), options_(options), nodes_(nodes), pool_(pool) {}

  std::vector<TensorId> run() {
    add_values();
    add_derivatives();
    for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) add_own_tensors(i);
    return std::move(values_);
  }

 private:
  const Node& node(int i) const { return graph_.nodes[at(i)]; }
  const Value& value(int v) const { return graph_.values[at(v)]; }

  TensorId add(const std::string& name, TensorInfo info, TensorKind kind,
               CreateMode mode = CreateMode::kCreate, TensorId target = kNoTensor) {
    return pool_.add({name, info, kind, mode, target});
  }

  TensorId add_bytes(const std::string& name, std::size_t bytes, TensorKind kind) {
    if (bytes == 0) return kNoTensor;
    return add(name, {Dims{static_cast<std::int64_t>((bytes + 3) / 4)}, Layout::kPlain}, kind);
  }

  // A layer's tensor of this slot, over the first of those that its step reads if the layer wishes
  // so. Not if the step reads the same data by another name too.
  TensorId add_over(const std::string& name, const TensorInfo& info, TensorKind kind, InPlace wish,
                    std::size_t slot, const std::vector<TensorId>& read) {
    const auto is_read_again = [&] {
      return std::any_of(read.begin() + 1, read.end(),
                         [&](TensorId id) { return pool_.data_of(id) == pool_.data_of(read[0]); });
    };
    const bool shares =
        !read.empty() && read[0] != kNoTensor &&
        (wish == InPlace::kSameData || (wish == InPlace::kModify && slot == 0 && !is_read_again()));
    if (!shares) return add(name, info, kind);
    const CreateMode mode =
        wish == InPlace::kSameData ? CreateMode::kReadOnlyView : CreateMode::kModifyView;
    return add(name, info, kind, mode, read[0]);
  }

  void live_always_if(Lifespan lifespan, TensorId id) {
    if (has(lifespan, Lifespan::kMax) && id != kNoTensor) pool_.use_always(id);
  }

  void add_values() {
    values_.assign(graph_.values.size(), kNoTensor);
    for (const int v : graph_.inputs)
      values_[at(v)] = add(value(v).name, value(v).info, TensorKind::kInput);
    for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
      NodePlan& n = nodes_[at(i)];
      for (std::size_t s = 0; s < node(i).inputs.size(); ++s) {
        n.inputs.push_back(values_[at(node(i).inputs[s])]);
        live_always_if(n.layer.inputs[s], n.inputs.back());
      }
      for (std::size_t s = 0; s < node(i).outputs.size(); ++s) {
        const Value& out = value(node(i).outputs[s]);
        const TensorId id =
            add_over(out.name, out.info, TensorKind::kActivation, n.layer.in_place, s, n.inputs);
        values_[at(node(i).outputs[s])] = id;
        n.outputs.push_back(id);
        live_always_if(n.layer.outputs[s], id);
      }
    }
  }

  // From the output to the input, so that a view's target is there before the view.
  void add_derivatives() {
    std::vector<TensorId> of_value(graph_.values.size(), kNoTensor);
    for (int i = static_cast<int>(nodes_.size()) - 1; i >= 0; --i) {
      NodePlan& n = nodes_[at(i)];
      for (const int v : node(i).outputs) n.output_derivatives.push_back(of_value[at(v)]);
      for (std::size_t s = 0; s < node(i).inputs.size(); ++s) {
        const int v = node(i).inputs[s];
        n.input_derivatives.push_back(kNoTensor);
        if (!needs_.derivative[at(v)]) continue;
        n.input_derivatives.back() =
            add_over(value(v).name + "/derivative", value(v).info, TensorKind::kDerivative,
                     n.layer.derivative_in_place, s, n.output_derivatives);
        if (of_value[at(v)] != kNoTensor) {
          throw Error(ErrorCode::kInternal,
                      "value \"" + value(v).name + "\" is read twice in a training graph");
        }
        of_value[at(v)] = n.input_derivatives.back();
      }
    }
  }

  void add_own_tensors(int i) {
    NodePlan& n = nodes_[at(i)];
    for (std::size_t w = 0; w < node(i).weights.size(); ++w) add_weight(i, w);
    for (const SavedSpec& s : n.layer.saved) {
      n.saved.push_back(add_bytes(node(i).name + "/" + s.name, s.bytes, TensorKind::kSaved));
      live_always_if(s.lifespan, n.saved.back());
    }
    add_workspace(i, StepKind::kForward, n.layer.forward_workspace);
    add_workspace(i, StepKind::kComputeGradient, n.layer.gradient_workspace);
    add_workspace(i, StepKind::kComputeDerivative, n.layer.derivative_workspace);
  }

  void add_workspace(int i, StepKind kind, std::size_t bytes) {
    nodes_[at(i)].workspaces[at(static_cast<int>(kind))] =
        add_bytes(node(i).name + "/workspace " + to_string(kind), bytes, TensorKind::kWorkspace);
  }

  // As large as the weight, or as many rows as CG leaves.
  TensorInfo gradient_info(int i, std::size_t w) const {
    TensorInfo info{node(i).weights[w].dims, Layout::kPlain};
    const std::int64_t rows = nodes_[at(i)].layer.rows_of_gradient(w);
    if (rows == 0) return info;
    info.dims = Dims{rows, info.dims.elements_per_sample()};
    info.form = TensorForm::kRows;
    return info;
  }

  // A tensor of its own, or the same as that of the node before that has the weight.
  TensorId add_of_weight(const std::string& name, const TensorInfo& info, TensorKind kind) {
    const auto [first, is_new] = of_weights_.try_emplace(name, kNoTensor);
    const TensorId id =
        is_new ? add(name, info, kind) : add(name, info, kind, CreateMode::kExtend, first->second);
    if (is_new) first->second = id;
    return id;
  }

  void add_weight(int i, std::size_t w) {
    NodePlan& n = nodes_[at(i)];
    const WeightSpec& spec = node(i).weights[w];
    const std::string name = weight_name(node(i), spec);
    const TensorInfo info{spec.dims, Layout::kPlain};
    n.weights.push_back(kNoTensor);
    n.gradients.push_back(kNoTensor);
    n.states.emplace_back();
    if (n.layer.keeps(w)) {
      n.weights.back() =
          add_of_weight(name, info, spec.trainable ? TensorKind::kWeight : TensorKind::kStatistic);
      pool_.use_always(n.weights.back());
    }
    if (!needs_.trained[at(i)][w]) return;
    n.gradients.back() =
        add_of_weight(name + "/gradient", gradient_info(i, w), TensorKind::kGradient);
    if (options_.accumulate_gradients) pool_.use_always(n.gradients.back());
    for (int s = 0; s < options_.optimizer_states && !spec.repeats; ++s) {
      n.states.back().push_back(
          add(name + "/state" + std::to_string(s), info, TensorKind::kOptimizerState));
      pool_.use_always(n.states.back().back());
    }
  }

  const Graph& graph_;
  const BackwardNeeds& needs_;
  const GraphTensorOptions& options_;
  std::vector<NodePlan>& nodes_;
  TensorPool& pool_;
  std::vector<TensorId> values_;
  std::map<std::string, TensorId> of_weights_;  // by name: weights and gradients
};

}  // namespace

std::vector<TensorId> add_tensors(const Graph& graph, const BackwardNeeds& needs,
                                  const GraphTensorOptions& options, std::vector<NodePlan>& nodes,
                                  TensorPool& pool) {
  return TensorAdder(graph, needs, options, nodes, pool).run();
}

std::set<TensorId> output_data(const Graph& graph, const std::vector<NodePlan>& nodes,
                               const TensorPool& pool) {
  std::set<TensorId> data;
  for (const int v : graph.outputs) {
    const Value& value = graph.values[at(v)];
    if (value.producer >= 0)
      data.insert(pool.data_of(nodes[at(value.producer)].outputs[at(value.producer_slot)]));
  }
  return data;
}

}  // namespace moil
