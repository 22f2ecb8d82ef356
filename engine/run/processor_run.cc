#include "engine/run/processor_run.h"

#include "base/index.h"

namespace moil {
ProcessorRun::ProcessorRun(const NetworkPlan& plan, ProcessorId id, Processor& processor,
                           MemoryPool& memory)
    : plan_(plan),
      id_(id),
      hand_overs_(plan.processors[at(id - 1)]),
      processor_(processor),
      pool_(memory),
      memory_(processor.attach({memory.data(), memory.bytes()}, hand_overs_.device_bytes,
                               hand_overs_.ranges)),
      state_(hand_overs_.ranges.size(), processor.shares_memory()) {
  for (std::size_t s = 0; s < plan.program.size(); ++s) {
    const bool is_update = plan.program[s].kind == StepKind::kApplyGradient;
    ranges_.push_back(is_its(s) && !is_update ? bind(s) : StepRanges{});
    updates_.push_back(is_its(s) && is_update ? bind_updates(s) : std::vector<WeightElsewhere>{});
  }
  // Weights and states begin as the host has them: states as zeros.
  for (const RangeId range : hand_overs_.persistent) adopt(range);
  end_iteration();
}

// Whatever ends here first, a step that failed included: what is under way ends before its memory
// goes, or the memory stays.
ProcessorRun::~ProcessorRun() {
  try {
    memory_->finish();
  } catch (const Error&) {
    // It is lost.
  }
  if (memory_->is_lost()) pool_.abandon();
}

OperandTable<RangeId> ProcessorRun::ranges_of(std::size_t step) const {
  const Instruction& instruction = plan_.program[step];
  return {instruction, plan_.nodes[at(instruction.node)], kNoRange, [&](const Operand& operand) {
            const auto stay = plan_.stay_at(operand.tensor, static_cast<int>(step));
            return stay ? hand_overs_.range_at(*stay) : kNoRange;
          }};
}

StepRanges ProcessorRun::bind(std::size_t step) const {
  OperandTable<RangeId> t = ranges_of(step);
  return {std::move(t.inputs),
          std::move(t.outputs),
          std::move(t.output_derivatives),
          std::move(t.input_derivatives),
          std::move(t.weights),
          std::move(t.gradients),
          std::move(t.saved),
          t.workspace};
}

std::vector<WeightElsewhere> ProcessorRun::bind_updates(std::size_t step) const {
  const OperandTable<RangeId> t = ranges_of(step);
  const NodePlan& node = plan_.nodes[at(plan_.program[step].node)];
  std::vector<WeightElsewhere> updates;
  for (std::size_t w = 0; w < node.weights.size(); ++w) {
    if (node.gradients[w] == kNoTensor) continue;
    const auto state = [&](std::size_t s) {
      return s < t.states[w].size() ? t.states[w][s] : kNoRange;
    };
    updates.emplace_back(processor_, *memory_,
                         UpdateRanges{t.weights[w], t.gradients[w], state(0), state(1),
                                      plan_.pool.spec(node.weights[w]).info.dims.elements()});
  }
  return updates;
}

void ProcessorRun::touch(const Touch& touch, bool by_processor) {
  const Move move = state_.touch(touch, by_processor);
  carry_out(move, touch.range);
  if (move.transfer != Transfer::kNone && move.contents) ++transfers_;
}

void ProcessorRun::adopt(RangeId range) { carry_out(state_.adopt(range), range); }

void ProcessorRun::carry_out(const Move& move, RangeId range) {
  if (move.transfer == Transfer::kTake)
    memory_->take(range, move.contents);
  else if (move.transfer == Transfer::kGive)
    memory_->give(range, move.contents, move.writes);
}

void ProcessorRun::begin_order(int order) {
  if (hand_overs_.loads.empty()) return;
  for (const Touch& t : hand_overs_.loads[at(order)]) touch(t, false);
}

void ProcessorRun::before_step(std::size_t step) {
  for (const Touch& t : hand_overs_.steps[step].touches) touch(t, is_its(step));
}

void ProcessorRun::run(std::size_t step, bool accumulate) {
  const Instruction& planned = plan_.program[step];
  ProcessorStep& code =
      *plan_.nodes[at(planned.node)].elsewhere[at(static_cast<int>(planned.kind))];
  code.run(*memory_, {ranges_[step], accumulate});
}

void ProcessorRun::read_after(std::size_t step) {
  for (const Touch& t : hand_overs_.steps[step].read_after) touch(t, false);
}

void ProcessorRun::after_step(std::size_t step) {
  for (const RangeId range : hand_overs_.steps[step].ends) {
    if (hand_overs_.is_stored(range)) touch({range, false, false}, false);
    if (state_.retire(range)) memory_->retire(range);
  }
}

void ProcessorRun::end_iteration() {
  for (const Touch& t : hand_overs_.after)
    if (!state_.is_nobodys(t.range)) touch(t, false);
  for (const RangeId range : hand_overs_.transient)
    if (state_.retire(range)) memory_->retire(range);
  for (const RangeId range : hand_overs_.inputs) adopt(range);
}

void ProcessorRun::rest_on_host() {
  for (const RangeId range : hand_overs_.persistent) touch({range, true, false}, false);
}

}  // namespace moil
