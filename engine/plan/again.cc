#include "engine/plan/again.h"

#include <algorithm>

#include "base/index.h"
#include "engine/plan/graph_tensors.h"

namespace moil {
namespace {

class Rewriter {
 public:
  Rewriter(const std::set<int>& chosen, const std::vector<NodePlan>& nodes, Program& program,
           TensorPool& pool)
      : program_(program), pool_(pool) {
    for (const Instruction& step : program) {
      if (step.kind != StepKind::kForward || !chosen.contains(step.node)) continue;
      for (const TensorId id : nodes[at(step.node)].outputs)
        maker_[pool.data_of(id)] = forward_.size();
      forward_.push_back(step);
    }
  }

  void run() {
    for (Instruction& step : program_) {
      // The step reads values as they are made again; those that are not yet are made before it.
      if (step.kind == StepKind::kComputeGradient || step.kind == StepKind::kComputeDerivative)
        for (Operand& operand : step.operands)
          if (is_value(operand)) operand.tensor = again(operand.tensor);
      result_.push_back(std::move(step));
    }
    program_ = std::move(result_);
  }

 private:
  TensorId again(TensorId id) {
    const TensorId data = pool_.data_of(id);
    const auto maker = maker_.find(data);
    if (maker == maker_.end()) return id;
    if (!made_.contains(data)) make(forward_[maker->second]);
    return made_.at(data);
  }

  void make(Instruction step) {
    step.again = true;
    for (Operand& operand : step.operands)
      if (operand.role == OperandRole::kInput) operand.tensor = again(operand.tensor);
    const TensorId over = step.operands.front().tensor;  // input 0, if F works in place
    for (Operand& operand : step.operands) {
      if (operand.role == OperandRole::kOutput) {
        const TensorId data = pool_.data_of(operand.tensor);
        operand.tensor = made_[data] = add_like(data, over);
      } else if (operand.role == OperandRole::kWorkspace) {
        operand.tensor = add_like(operand.tensor, kNoTensor);
      } else {
        operand.access = Access::kRead;
      }
    }
    result_.push_back(std::move(step));
  }

  TensorId add_like(TensorId id, TensorId over) {
    TensorSpec spec = pool_.spec(id);
    spec.name += " again";
    if (spec.mode == CreateMode::kModifyView) spec.target = over;
    return pool_.add(std::move(spec));
  }

  Program& program_;
  TensorPool& pool_;
  std::vector<Instruction> forward_;       // F of the chosen nodes
  std::map<TensorId, std::size_t> maker_;  // of each value that they make
  std::map<TensorId, TensorId> made_;      // values, and what they are when made again
  Program result_;
};

}  // namespace

Recomputation::Recomputation(const Graph& graph, const std::vector<NodePlan>& nodes,
                             const Program& program, const TensorPool& pool)
    : graph_(graph), nodes_(nodes), pool_(pool) {
  for (const Instruction& step : program) {
    if (step.kind == StepKind::kForward) {
      for (const TensorId id : nodes[at(step.node)].outputs) maker_[pool.data_of(id)] = step.node;
      continue;
    }
    for (const Operand& operand : step.operands)
      if (is_value(operand)) read_.insert(pool.data_of(operand.tensor));
  }
}

bool Recomputation::may_run_again(int node) const {
  const NodePlan& plan = nodes_[at(node)];
  if (!plan.has_forward_work() || plan.processors[0] != kCpu) return false;
  const auto& weights = graph_.nodes[at(node)].weights;
  const bool has_statistics =
      std::any_of(weights.begin(), weights.end(), [](const WeightSpec& w) { return !w.trainable; });
  return !has_statistics || !plan.layer.updates_statistics || plan.layer.saves_statistics;
}

bool Recomputation::makes_any_of(int node, const std::set<TensorId>& values) const {
  const auto& outputs = nodes_[at(node)].outputs;
  return std::any_of(outputs.begin(), outputs.end(),
                     [&](TensorId id) { return values.contains(pool_.data_of(id)); });
}

std::vector<int> Recomputation::candidates() const {
  const std::set<TensorId> of_host = output_data(graph_, nodes_, pool_);
  std::vector<int> candidates;
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i)
    if (may_run_again(i) && makes_any_of(i, read_) && !makes_any_of(i, of_host))
      candidates.push_back(i);
  return candidates;
}

std::set<int> Recomputation::needed(int node) const {
  std::set<int> needed = {node};
  std::vector<int> open = {node};
  while (!open.empty()) {
    const int i = open.back();
    open.pop_back();
    for (const TensorId id : nodes_[at(i)].inputs) {
      const TensorId data = pool_.data_of(id);
      const auto made = maker_.find(data);
      if (read_.contains(data) || made == maker_.end()) continue;
      if (may_run_again(made->second) && needed.insert(made->second).second)
        open.push_back(made->second);
    }
  }
  return needed;
}

void make_again(const Graph& graph, const std::vector<NodePlan>& nodes,
                const std::set<std::string>& layers, Program& program, TensorPool& pool) {
  if (layers.empty()) return;
  const Recomputation recomputation(graph, nodes, program, pool);
  std::set<int> chosen;
  for (const int i : recomputation.candidates())
    if (layers.contains(graph.nodes[at(i)].name)) chosen.merge(recomputation.needed(i));
  Rewriter(chosen, nodes, program, pool).run();
}

}  // namespace moil
