#include "engine/run/processor_run.h"

#include "base/index.h"

namespace moil {
ProcessorRun::ProcessorRun(const NetworkPlan& plan, Processor& processor, MemoryPool& memory)
    : plan_(plan),
      hand_overs_(plan.processor),
      processor_(processor),
      pool_(memory),
      memory_(processor.attach({memory.data(), memory.bytes()}, plan.processor.device_bytes,
                               plan.processor.ranges)),
      state_(plan.processor.ranges.size(), processor.shares_memory()) {
  for (const PlannedStep& step : plan.steps) {
    const bool is_update = step.kind == StepKind::kApplyGradient;
    ranges_.push_back(step.elsewhere && !is_update ? bind(step) : StepRanges{});
    updates_.push_back(step.elsewhere && is_update ? bind_updates(step)
                                                   : std::vector<WeightElsewhere>{});
  }
  rest_on_host();
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

RangeId ProcessorRun::range_of(TensorId id, int order) const {
  if (id == kNoTensor) return kNoRange;
  const auto stay = plan_.stay_at(id, order);
  return stay ? hand_overs_.range_at(*stay) : kNoRange;
}

StepRanges ProcessorRun::bind(const PlannedStep& step) const {
  const NodeTensors& t = plan_.nodes[at(step.node)];
  const auto ranges = [&](const std::vector<TensorId>& ids) {
    std::vector<RangeId> found;
    for (const TensorId id : ids) found.push_back(range_of(id, step.order));
    return found;
  };
  StepRanges r;
  r.inputs = ranges(t.inputs);
  r.outputs = ranges(t.outputs);
  r.output_derivatives = ranges(t.output_derivatives);
  r.input_derivatives = ranges(t.input_derivatives);
  r.weights = ranges(t.weights);
  r.gradients = ranges(t.gradients);
  r.saved = ranges(t.saved);
  const TensorId workspace = t.workspace(step.kind);
  r.workspace = range_of(workspace, step.order);
  return r;
}

std::vector<WeightElsewhere> ProcessorRun::bind_updates(const PlannedStep& step) const {
  const NodeTensors& t = plan_.nodes[at(step.node)];
  std::vector<WeightElsewhere> updates;
  for (std::size_t w = 0; w < t.weights.size(); ++w) {
    if (t.gradients[w] == kNoTensor) continue;
    const auto state = [&](std::size_t s) {
      return s < t.states[w].size() ? range_of(t.states[w][s], step.order) : kNoRange;
    };
    updates.emplace_back(
        processor_, *memory_,
        UpdateRanges{range_of(t.weights[w], step.order), range_of(t.gradients[w], step.order),
                     state(0), state(1), plan_.pool.spec(t.weights[w]).info.dims.elements()});
  }
  return updates;
}

void ProcessorRun::touch(const Touch& touch, bool by_processor) {
  const Move move = state_.touch(touch, by_processor);
  if (move.transfer == Transfer::kTake)
    memory_->take(touch.range, move.contents);
  else if (move.transfer == Transfer::kGive)
    memory_->give(touch.range, move.contents, move.writes);
  if (move.transfer != Transfer::kNone && move.contents) ++transfers_;
}

void ProcessorRun::begin_order(int order) {
  if (hand_overs_.loads.empty()) return;
  for (const Touch& t : hand_overs_.loads[at(order)]) touch(t, false);
}

void ProcessorRun::before_step(std::size_t step) {
  for (const Touch& t : hand_overs_.steps[step].touches) touch(t, plan_.steps[step].elsewhere);
}

void ProcessorRun::run(std::size_t step, bool accumulate) {
  const PlannedStep& planned = plan_.steps[step];
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
  for (const Touch& t : hand_overs_.before) touch(t, false);
}

void ProcessorRun::rest_on_host() {
  for (const RangeId range : hand_overs_.persistent) touch({range, true, false}, false);
}

}  // namespace moil
