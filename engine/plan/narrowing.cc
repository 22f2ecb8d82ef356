#include "engine/plan/narrowing.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/index.h"
#include "engine/plan/graph_tensors.h"

namespace moil {
namespace {

constexpr std::size_t kLeastBytes = 4096;  // smaller ones are not worth two instructions
constexpr std::size_t kLeastDistance = 4;  // instructions between the last use and the next

class Narrowing {
 public:
  Narrowing(const Graph& graph, const std::vector<NodePlan>& nodes, Program& program,
            TensorPool& pool)
      : program_(program), pool_(pool), of_host_(output_data(graph, nodes, pool)) {
    backward_ = static_cast<std::size_t>(
        std::find_if(program.begin(), program.end(),
                     [](const Instruction& s) { return s.again || s.kind != StepKind::kForward; }) -
        program.begin());
  }

  void run() {
    find_waiting();
    Program result;
    for (std::size_t s = 0; s < program_.size(); ++s) {
      Instruction& step = program_[s];
      if (s >= backward_) widen_before(step, result);
      Program behind;
      if (s < backward_) behind = narrowings_of(step);
      result.push_back(std::move(step));
      std::ranges::move(behind, std::back_inserter(result));
    }
    program_ = std::move(result);
  }

 private:
  struct Waiting {
    std::size_t last = 0, next = 0;  // uses before and behind the end of F
    TensorId narrow = kNoTensor, wide = kNoTensor;
  };

  void find_waiting() {
    std::map<TensorId, Waiting> found;
    std::set<TensorId> written;
    for (std::size_t s = 0; s < program_.size(); ++s) {
      for (const Operand& operand : program_[s].operands) {
        if (!is_value(operand)) continue;
        const TensorId data = pool_.data_of(operand.tensor);
        if (s < backward_) {
          if (writes(operand.access)) written.insert(data);
          found[data].last = s;
        } else if (found[data].next == 0) {
          found[data].next = s;
        }
      }
    }
    for (const auto& [id, uses] : found) {
      const TensorSpec& spec = pool_.spec(id);
      if (uses.next >= uses.last + kLeastDistance && written.contains(id) &&
          !of_host_.contains(id) && spec.info.type == ElementType::kFloat32 &&
          spec.info.bytes() >= kLeastBytes)
        waiting_[id] = uses;
    }
  }

  static Instruction conversion(int node, Conversion kind, TensorId from, TensorId to) {
    Instruction step;
    step.node = node;
    step.conversion = kind;
    step.operands = {{from, 0, 0, OperandRole::kInput, Access::kRead},
                     {to, 0, 0, OperandRole::kOutput, Access::kWrite}};
    return step;
  }

  Program narrowings_of(const Instruction& step) {
    Program result;
    for (const Operand& operand : step.operands) {
      const auto it = waiting_.find(pool_.data_of(operand.tensor));
      if (operand.role != OperandRole::kOutput || it == waiting_.end()) continue;
      const TensorSpec& spec = pool_.spec(it->first);
      TensorInfo info{Dims{spec.info.dims.elements()}, Layout::kPlain};
      info.type = ElementType::kBfloat16;
      it->second.narrow = pool_.add({spec.name + " narrow", info, TensorKind::kSaved});
      result.push_back(conversion(step.node, Conversion::kNarrow, it->first, it->second.narrow));
    }
    return result;
  }

  void widen_before(Instruction& step, Program& result) {
    for (Operand& operand : step.operands) {
      if (!is_value(operand)) continue;
      const auto it = waiting_.find(pool_.data_of(operand.tensor));
      if (it == waiting_.end()) continue;
      if (it->second.wide == kNoTensor) {
        const TensorSpec& spec = pool_.spec(it->first);
        it->second.wide = pool_.add({spec.name + " wide", spec.info, TensorKind::kActivation});
        result.push_back(
            conversion(step.node, Conversion::kWiden, it->second.narrow, it->second.wide));
      }
      operand.tensor = it->second.wide;
    }
  }

  Program& program_;
  TensorPool& pool_;
  const std::set<TensorId> of_host_;
  std::size_t backward_ = 0;  // where F ends
  std::map<TensorId, Waiting> waiting_;
};

}  // namespace

void narrow_saved(const Graph& graph, const std::vector<NodePlan>& nodes, Program& program,
                  TensorPool& pool) {
  Narrowing(graph, nodes, program, pool).run();
}

}  // namespace moil
