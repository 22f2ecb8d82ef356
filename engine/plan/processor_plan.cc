#include "engine/plan/processor_plan.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/index.h"
#include "engine/plan/network_plan.h"

namespace moil {
namespace {

class ProcessorPlanBuilder {
 public:
  ProcessorPlanBuilder(const NetworkPlan& plan, ProcessorId id, const Processor& processor,
                       bool clips)
      : plan_(plan), id_(id), processor_(processor), clips_(clips) {}

  ProcessorPlan run(const std::vector<TensorId>& inputs, const std::vector<TensorId>& outputs) {
    find_touches();
    if (!computes_anything()) return {};
    choose_ranges();
    place_on_device();
    to_ranges();
    add_host_touches(inputs, outputs);
    end_lives(outputs);
    plan_transfers();
    return std::move(result_);
  }

 private:
  // A touch of a stay, before stays are ranges.
  struct StayTouch {
    std::size_t stay = 0;
    bool writes = false, fresh = false;
  };

  bool is_its(const Instruction& step) const { return step.processor == id_; }
  bool computes_anything() const {
    return std::any_of(plan_.program.begin(), plan_.program.end(),
                       [this](const Instruction& s) { return is_its(s); });
  }

  void find_touches() {
    touched_.assign(plan_.stays.size(), false);
    for (std::size_t s = 0; s < plan_.program.size(); ++s) touches_.push_back(touches_of(s));
  }

  std::vector<StayTouch> touches_of(std::size_t step) {
    std::vector<StayTouch> touches;
    for (const Operand& operand : plan_.program[step].operands) {
      const auto stay = plan_.stay_at(operand.tensor, static_cast<int>(step));
      if (!stay) continue;
      const bool writes = moil::writes(operand.access);
      const auto known = std::find_if(touches.begin(), touches.end(),
                                      [&](const StayTouch& t) { return t.stay == *stay; });
      if (known != touches.end()) {
        known->writes = known->writes || writes;
        continue;
      }
      const bool fresh = !touched_[*stay] && !plan_.stays[*stay].loads &&
                         !plan_.pool.is_always(operand.tensor) &&
                         plan_.pool.spec(plan_.stays[*stay].owner).kind != TensorKind::kInput;
      touches.push_back({*stay, writes, fresh});
    }
    for (const StayTouch& t : touches) touched_[t.stay] = true;
    return touches;
  }

  std::size_t begin_of(std::size_t stay) const { return plan_.memory.offsets[stay]; }
  std::size_t end_of(std::size_t stay) const { return begin_of(stay) + requests_[stay].bytes; }

  void choose_ranges() {
    requests_ = memory_requests(plan_.pool, plan_.stays);
    std::vector<bool> its(plan_.stays.size(), false);
    for (std::size_t s = 0; s < plan_.program.size(); ++s) {
      if (!is_its(plan_.program[s])) continue;
      for (const StayTouch& t : touches_[s]) its[t.stay] = true;
    }
    result_.range_of_stay.assign(plan_.stays.size(), kNoRange);
    for (std::size_t s = 0; s < plan_.stays.size(); ++s) {
      if (requests_[s].bytes == 0 || !(its[s] || shares_bytes(s, its))) continue;
      result_.range_of_stay[s] = static_cast<RangeId>(result_.ranges.size());
      result_.ranges.push_back({begin_of(s), 0, requests_[s].bytes});
      result_.stored.push_back(plan_.stays[s].stores);
      stay_of_range_.push_back(s);
    }
  }

  // On memory of its own a processor has nothing of what it never touches.
  bool shares_bytes(std::size_t stay, const std::vector<bool>& its) const {
    if (!processor_.shares_memory()) return false;
    for (std::size_t other = 0; other < its.size(); ++other) {
      if (its[other] && begin_of(stay) < end_of(other) && begin_of(other) < end_of(stay))
        return true;
    }
    return false;
  }

  void place_on_device() {
    if (processor_.shares_memory()) return;
    std::vector<MemoryRequest> requests;
    for (const std::size_t stay : stay_of_range_) requests.push_back(requests_[stay]);
    const MemoryPlan placed = plan_memory(requests);
    for (std::size_t r = 0; r < requests.size(); ++r)
      result_.ranges[r].device_offset = placed.offsets[r];
    result_.device_bytes = placed.total_bytes;
  }

  void to_ranges() {
    for (std::size_t s = 0; s < touches_.size(); ++s) {
      StepTouches step;
      for (const StayTouch& t : touches_[s]) {
        const RangeId range = result_.range_of_stay[t.stay];
        if (range != kNoRange) step.touches.push_back({range, t.writes, t.fresh});
      }
      result_.steps.push_back(std::move(step));
      if (clips_ && plan_.program[s].kind == StepKind::kComputeGradient) read_gradients(s);
    }
  }

  void read_gradients(std::size_t s) {
    for (const Operand& operand : plan_.program[s].operands) {
      if (operand.role != OperandRole::kGradient) continue;
      const RangeId range = range_of(operand.tensor, static_cast<int>(s));
      if (range != kNoRange) result_.steps[s].read_after.push_back({range, false, false});
    }
  }

  RangeId range_of(TensorId id, int order) const {
    const auto stay = plan_.stay_at(id, order);
    return stay ? result_.range_of_stay[*stay] : kNoRange;
  }

  void add_host_touches(const std::vector<TensorId>& inputs, const std::vector<TensorId>& outputs) {
    for (const TensorId id : inputs) {
      const RangeId range = range_of(id, 0);
      if (range != kNoRange) result_.inputs.push_back(range);
    }
    for (const TensorId id : outputs) {
      const RangeId range = range_of(id, plan_.last_order());
      if (range != kNoRange) result_.after.push_back({range, false, false});
    }
    if (!plan_.swaps()) return;
    result_.loads.resize(at(plan_.last_order() + 1));
    for (std::size_t s = 0; s < plan_.stays.size(); ++s) {
      const RangeId range = result_.range_of_stay[s];
      if (range != kNoRange && plan_.stays[s].loads)
        result_.loads[at(plan_.stays[s].from)].push_back({range, true, true});
    }
  }

  // Outputs are read after the last step.
  void end_lives(const std::vector<TensorId>& outputs) {
    std::vector<bool> ends(result_.ranges.size(), true);
    for (const TensorId id : outputs)
      if (const RangeId r = range_of(id, plan_.last_order()); r != kNoRange) ends[at(r)] = false;
    std::vector<std::optional<std::size_t>> last(result_.ranges.size());
    for (std::size_t s = 0; s < result_.steps.size(); ++s)
      for (const Touch& t : result_.steps[s].touches) last[at(t.range)] = s;
    for (std::size_t r = 0; r < ends.size(); ++r) {
      const auto range = static_cast<RangeId>(r);
      const Stay& stay = plan_.stays[stay_of_range_[r]];
      if (plan_.pool.is_always(stay.owner) && !stay.swapped()) {
        result_.persistent.push_back(range);
        continue;
      }
      result_.transient.push_back(range);
      if (ends[r] && last[r]) result_.steps[*last[r]].ends.push_back(range);
    }
  }

  // As it is once the state at the end of an iteration is that at the beginning of the next.
  void plan_transfers() {
    HandOver state(result_.ranges.size(), processor_.shares_memory());
    for (int iteration = 0; iteration < 2; ++iteration) {
      result_.transfers.clear();
      for (const RangeId r : result_.transient) state.retire(r);
      for (const RangeId r : result_.inputs) (void)state.adopt(r);
      for (std::size_t s = 0; s < plan_.program.size(); ++s) run_step(state, s);
      for (const Touch& t : result_.after) touch(state, t, false, plan_.program.size());
    }
  }

  void run_step(HandOver& state, std::size_t s) {
    if (!result_.loads.empty())
      for (const Touch& t : result_.loads[s]) touch(state, t, false, s);
    for (const Touch& t : result_.steps[s].touches) touch(state, t, is_its(plan_.program[s]), s);
    for (const Touch& t : result_.steps[s].read_after) touch(state, t, false, s);
    for (const RangeId r : result_.steps[s].ends) {
      if (result_.is_stored(r)) touch(state, {r, false, false}, false, s);
      state.retire(r);
    }
  }

  void touch(HandOver& state, const Touch& t, bool by_processor, std::size_t step) {
    const Move move = state.touch(t, by_processor);
    if (move.transfer == Transfer::kNone || !move.contents) return;
    result_.transfers.push_back(
        {static_cast<int>(step), t.range, move.transfer, result_.ranges[at(t.range)].bytes});
  }

  const NetworkPlan& plan_;
  const ProcessorId id_;
  const Processor& processor_;
  const bool clips_;
  std::vector<MemoryRequest> requests_;
  std::vector<bool> touched_;  // by stay
  std::vector<std::vector<StayTouch>> touches_;
  std::vector<std::size_t> stay_of_range_;
  ProcessorPlan result_;
};

}  // namespace

ProcessorPlan plan_processor(const NetworkPlan& plan, ProcessorId id, const Processor& processor,
                             const std::vector<TensorId>& graph_inputs,
                             const std::vector<TensorId>& graph_outputs, bool clips) {
  return ProcessorPlanBuilder(plan, id, processor, clips).run(graph_inputs, graph_outputs);
}

}  // namespace moil
