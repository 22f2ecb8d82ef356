// Carries out what a ProcessorPlan says: hands ranges over before each step, and runs the
// processor's own.
//
// Not thread-safe. Throws ProcessorError if the device fails.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/device/hand_over.h"
#include "engine/plan/network_plan.h"
#include "engine/tensor/memory_pool.h"

namespace moil {

class ProcessorRun {
 public:
  // All three outlive it.
  ProcessorRun(const NetworkPlan& plan, ProcessorId id, Processor& processor, MemoryPool& memory);
  ~ProcessorRun();
  ProcessorRun(const ProcessorRun&) = delete;
  ProcessorRun& operator=(const ProcessorRun&) = delete;

  ProcessorId id() const { return id_; }
  // Before the swapper begins an order.
  void begin_order(int order);
  // So that the step, an index into the plan's, may run.
  void before_step(std::size_t step);
  // Runs one of its own that is not AG.
  void run(std::size_t step, bool accumulate);
  // What the host reads of its results at once: gradients that are to be clipped.
  void read_after(std::size_t step);
  void after_step(std::size_t step);
  // So that the host may read outputs and write inputs.
  void end_iteration();
  // So that it may touch what persists, until the next step.
  void rest_on_host();
  void finish() { memory_->finish(); }

  // A step of AG of its own has one a weight that is trained, in the node's order.
  const std::vector<WeightElsewhere>& updates(std::size_t step) const { return updates_[step]; }
  std::uint64_t transfers() const { return transfers_; }

 private:
  bool is_its(std::size_t step) const { return plan_.program[step].processor == id_; }
  void touch(const Touch& touch, bool by_processor);
  void adopt(RangeId range);
  void carry_out(const Move& move, RangeId range);
  OperandTable<RangeId> ranges_of(std::size_t step) const;
  StepRanges bind(std::size_t step) const;
  std::vector<WeightElsewhere> bind_updates(std::size_t step) const;

  const NetworkPlan& plan_;
  const ProcessorId id_;
  const ProcessorPlan& hand_overs_;
  Processor& processor_;
  MemoryPool& pool_;
  std::unique_ptr<ProcessorMemory> memory_;
  HandOver state_;
  std::vector<StepRanges> ranges_;                     // by step
  std::vector<std::vector<WeightElsewhere>> updates_;  // by step
  std::uint64_t transfers_ = 0;
};

}  // namespace moil
