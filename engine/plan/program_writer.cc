#include "engine/plan/program_writer.h"

#include <set>
#include <string>

#include "base/index.h"

namespace moil {
namespace {

Lifespan lifespan_of(StepKind kind) {
  if (kind == StepKind::kForward) return Lifespan::kForward;
  return kind == StepKind::kComputeGradient ? Lifespan::kComputeGradient
                                            : Lifespan::kComputeDerivative;
}

// One instruction and its operands.
class InstructionWriter {
 public:
  InstructionWriter(int node, StepKind kind, ProcessorId processor)
      : instruction_{kind, processor, false, Conversion::kNone, node, {}} {}

  void add(OperandRole role, std::size_t index, TensorId tensor, Access access,
           std::size_t state = 0) {
    if (tensor == kNoTensor) return;
    instruction_.operands.push_back(
        {tensor, static_cast<std::int32_t>(index), static_cast<std::int16_t>(state), role, access});
  }
  void add_all(OperandRole role, const std::vector<TensorId>& tensors, Access access) {
    for (std::size_t i = 0; i < tensors.size(); ++i) add(role, i, tensors[i], access);
  }
  Instruction done() { return std::move(instruction_); }

 private:
  Instruction instruction_;
};

class ProgramWriter {
 public:
  ProgramWriter(const Graph& graph, const std::vector<NodePlan>& nodes,
                const ProgramOptions& options)
      : graph_(graph), nodes_(nodes), options_(options) {}

  Program run() {
    const int nodes = static_cast<int>(nodes_.size());
    for (int i = 0; i < nodes; ++i)
      if (nodes_[at(i)].has_forward_work()) write_layer_step(i, StepKind::kForward);
    if (!options_.training) return std::move(program_);
    for (int i = nodes - 1; i >= 0; --i) {
      if (nodes_[at(i)].computes_gradient) write_layer_step(i, StepKind::kComputeGradient);
      if (nodes_[at(i)].has_derivative_work()) write_layer_step(i, StepKind::kComputeDerivative);
      if (!options_.clip_by_global_norm) write_update(i);
    }
    for (int i = nodes - 1; options_.clip_by_global_norm && i >= 0; --i) write_update(i);
    return std::move(program_);
  }

 private:
  // F writes statistics, unless the layer says that they stand still.
  Access weight_access(int i, std::size_t w, StepKind kind) const {
    const bool is_statistic = !graph_.nodes[at(i)].weights[w].trainable;
    const bool updates = kind == StepKind::kForward && options_.training && is_statistic &&
                         nodes_[at(i)].layer.updates_statistics;
    return updates ? Access::kWrite : Access::kRead;
  }

  // Backward comes from the last node: of those that share a weight, it writes and the others add.
  Access gradient_access(int i, std::size_t w) {
    const WeightSpec& spec = graph_.nodes[at(i)].weights[w];
    const bool first = !spec.shared || written_.insert(spec.full_name).second;
    return first ? Access::kWrite : Access::kAdd;
  }

  // F, CG or CD. What a layer saves may be written by any step that touches it.
  void write_layer_step(int i, StepKind kind) {
    const NodePlan& n = nodes_[at(i)];
    const Lifespan step = lifespan_of(kind);
    const bool forward = kind == StepKind::kForward;
    const std::size_t k = at(static_cast<int>(kind));
    InstructionWriter writer(i, kind, n.processors[k]);
    for (std::size_t s = 0; s < n.inputs.size(); ++s)
      if (forward || has(n.layer.inputs[s], step))
        writer.add(OperandRole::kInput, s, n.inputs[s], Access::kRead);
    for (std::size_t s = 0; s < n.outputs.size(); ++s)
      if (forward || has(n.layer.outputs[s], step))
        writer.add(OperandRole::kOutput, s, n.outputs[s], forward ? Access::kWrite : Access::kRead);
    if (!forward && has(n.layer.output_derivatives, step))
      writer.add_all(OperandRole::kOutputDerivative, n.output_derivatives, Access::kRead);
    if (kind == StepKind::kComputeDerivative)
      writer.add_all(OperandRole::kInputDerivative, n.input_derivatives, Access::kWrite);
    for (std::size_t w = 0; w < n.weights.size(); ++w)
      if (forward || has(n.layer.weights, step))
        writer.add(OperandRole::kWeight, w, n.weights[w], weight_access(i, w, kind));
    for (std::size_t w = 0; kind == StepKind::kComputeGradient && w < n.gradients.size(); ++w)
      writer.add(OperandRole::kGradient, w, n.gradients[w], gradient_access(i, w));
    for (std::size_t s = 0; s < n.saved.size(); ++s)
      if (has(n.layer.saved[s].lifespan, step | Lifespan::kMax))
        writer.add(OperandRole::kSaved, s, n.saved[s], Access::kWrite);
    writer.add(OperandRole::kWorkspace, 0, n.workspaces[k], Access::kWrite);
    program_.push_back(writer.done());
  }

  // A shared weight's gradient is whole behind CG of the first node that has it.
  bool applies(int i, std::size_t w) const {
    return nodes_[at(i)].gradients[w] != kNoTensor && !graph_.nodes[at(i)].weights[w].repeats;
  }
  bool applies_any(int i) const {
    for (std::size_t w = 0; w < nodes_[at(i)].gradients.size(); ++w)
      if (applies(i, w)) return true;
    return false;
  }

  void write_update(int i) {
    const NodePlan& n = nodes_[at(i)];
    if (!applies_any(i)) return;
    const StepKind kind = StepKind::kApplyGradient;
    InstructionWriter writer(i, kind, n.processors[static_cast<std::size_t>(kind)]);
    for (std::size_t w = 0; w < n.gradients.size(); ++w) {
      if (!applies(i, w)) continue;
      writer.add(OperandRole::kWeight, w, n.weights[w], Access::kWrite);
      writer.add(OperandRole::kGradient, w, n.gradients[w], Access::kRead);
      for (std::size_t s = 0; s < n.states[w].size(); ++s)
        writer.add(OperandRole::kState, w, n.states[w][s], Access::kWrite, s);
    }
    program_.push_back(writer.done());
  }

  const Graph& graph_;
  const std::vector<NodePlan>& nodes_;
  const ProgramOptions& options_;
  std::set<std::string> written_;  // gradients of shared weights
  Program program_;
};

}  // namespace

Program write_program(const Graph& graph, const std::vector<NodePlan>& nodes,
                      const ProgramOptions& options) {
  return ProgramWriter(graph, nodes, options).run();
}

}  // namespace moil
