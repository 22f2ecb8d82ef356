// A plan as a program: what an iteration does, as a list of instructions over tensors.
//
// An instruction is a step of a node, the processor that computes it, and its operands: tensors,
// what each is to the node's layer, and how it is touched. Its place in the list is its execution
// order (NNTrainer 2022 §3, 2024 §3). Lifespans, hand-overs, swap traffic, workspaces, pictures and
// reports are read off the list. Plain data; pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/device/assignment.h"
#include "engine/plan/node_plan.h"
#include "engine/tensor/tensor_pool.h"

namespace moil {

// What a tensor is to the layer whose step touches it.
enum class OperandRole : std::uint8_t {
  kInput,
  kOutput,
  kOutputDerivative,
  kInputDerivative,
  kWeight,
  kGradient,
  kState,
  kSaved,
  kWorkspace,
};

struct Operand {
  TensorId tensor = kNoTensor;
  std::int32_t index = 0;  // which input, output, weight or saved tensor of the layer
  std::int16_t state = 0;  // of kState: which of the weight's
  OperandRole role = OperandRole::kInput;
  Access access = Access::kRead;  // kAdd: on top of an earlier instruction's
};

inline bool is_value(const Operand& operand) {
  return operand.role == OperandRole::kInput || operand.role == OperandRole::kOutput;
}

// Operand 0 becomes operand 1; no step of a layer (plan/narrowing.h).
enum class Conversion : std::uint8_t { kNone, kNarrow, kWiden };

struct Instruction {
  StepKind kind = StepKind::kForward;
  ProcessorId processor = kCpu;
  bool again = false;  // F' (plan/again.h)
  Conversion conversion = Conversion::kNone;
  int node = 0;
  std::vector<Operand> operands;
};

// A layer's own F, CG or CD, once a step, or AG.
inline bool is_first_run(const Instruction& step) {
  return !step.again && step.conversion == Conversion::kNone;
}

// In the order in which they run.
using Program = std::vector<Instruction>;

// Something for each operand of an instruction, as a layer's code takes them: by role and index.
// `absent` stands for what the step does not touch.
template <class T>
struct OperandTable {
  std::vector<T> inputs, outputs, output_derivatives, input_derivatives, weights, gradients, saved;
  std::vector<std::vector<T>> states;  // by weight
  T workspace;

  // find: of an operand.
  OperandTable(const Instruction& instruction, const NodePlan& node, T absent, const auto& find)
      : inputs(node.inputs.size(), absent),
        outputs(node.outputs.size(), absent),
        output_derivatives(node.output_derivatives.size(), absent),
        input_derivatives(node.input_derivatives.size(), absent),
        weights(node.weights.size(), absent),
        gradients(node.gradients.size(), absent),
        saved(node.saved.size(), absent),
        workspace(absent) {
    for (const auto& of_weight : node.states) states.emplace_back(of_weight.size(), absent);
    for (const Operand& operand : instruction.operands) place(operand) = find(operand);
  }

 private:
  T& place(const Operand& o) {
    const auto i = static_cast<std::size_t>(o.index);
    switch (o.role) {
      case OperandRole::kInput:
        return inputs[i];
      case OperandRole::kOutput:
        return outputs[i];
      case OperandRole::kOutputDerivative:
        return output_derivatives[i];
      case OperandRole::kInputDerivative:
        return input_derivatives[i];
      case OperandRole::kWeight:
        return weights[i];
      case OperandRole::kGradient:
        return gradients[i];
      case OperandRole::kState:
        return states[i][static_cast<std::size_t>(o.state)];
      case OperandRole::kSaved:
        return saved[i];
      case OperandRole::kWorkspace:
        break;
    }
    return workspace;
  }
};

}  // namespace moil
