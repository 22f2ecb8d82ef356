#include "engine/device/recorded_device.h"

namespace moil {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorCode::kFailedPrecondition, "a recorded device computes nothing");
}

class RecordedStep final : public ProcessorStep {
 public:
  void run(ProcessorMemory&, const StepCall&) override { refuse(); }
};

class RecordedProcessor final : public Processor {
 public:
  RecordedProcessor(std::string device, bool shares_memory)
      : device_(std::move(device)), shares_memory_(shares_memory) {}
  std::string_view name() const override { return "recorded"; }
  std::string device() const override { return device_; }
  bool is_the_cpu() const override { return false; }
  bool shares_memory() const override { return shares_memory_; }
  std::size_t alignment() const override { return 64; }
  std::unique_ptr<ProcessorStep> make_step(const Operation& operation, StepKind) override {
    if (std::holds_alternative<std::monostate>(operation)) return nullptr;
    return std::make_unique<RecordedStep>();
  }
  void update(ProcessorMemory&, const SgdCoefficients&, const UpdateRanges&) override { refuse(); }
  void update(ProcessorMemory&, const AdamCoefficients&, const UpdateRanges&) override { refuse(); }
  std::unique_ptr<ProcessorMemory> attach(std::span<std::byte>, std::size_t,
                                          std::span<const MemoryRange>) override {
    refuse();
  }

 private:
  std::string device_;
  bool shares_memory_;
};

}  // namespace

std::shared_ptr<Processor> make_recorded_processor(const RecordedDevice& device,
                                                   bool shares_memory) {
  return std::make_shared<RecordedProcessor>(device.device, shares_memory);
}

void use_recorded_times(const RecordedDevice& device, SelectionProblem& problem) {
  TransferCosts& transfers = problem.transfers.at(0);
  transfers = transfers.shares_memory ? device.mapped : device.copied;
  for (SelectionLayer& layer : problem.layers) {
    const auto recorded = device.layers.find(layer.name);
    for (std::size_t p = 0; p < layer.passes.size(); ++p) {
      auto& pass = layer.passes[p];
      if (!pass) continue;
      const bool has_way = (*pass)[kSecondProcessor].has_value();
      constexpr PassTimes kUnknown{0.0};
      pass = recorded != device.layers.end() ? recorded->second.passes[p].value_or(kUnknown)
                                             : kUnknown;
      if (!has_way) (*pass)[kSecondProcessor].reset();
    }
  }
}

void record_times(const SelectionProblem& problem, RecordedDevice& device) {
  for (const SelectionLayer& layer : problem.layers)
    device.layers[layer.name] = {layer.type, layer.passes};
  const TransferCosts& transfers = problem.transfers.at(0);
  (transfers.shares_memory ? device.mapped : device.copied) = transfers;
}

}  // namespace moil
