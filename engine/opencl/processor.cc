#include <optional>
#include <variant>

#include "engine/opencl/open.h"
#include "engine/opencl/step.h"
#include "engine/opencl/update.h"

namespace moil {
namespace opencl {
namespace {

class OpenclProcessor final : public Processor {
 public:
  explicit OpenclProcessor(const DeviceOptions& options) : device_(options) {}

  std::string_view name() const override { return "opencl"; }
  std::string device() const override { return device_.description(); }
  bool is_the_cpu() const override { return device_.is_the_cpu(); }
  bool shares_memory() const override { return device_.shares_memory(); }
  std::size_t alignment() const override { return device_.alignment(); }

  std::unique_ptr<ProcessorStep> make_step(const Operation& operation, StepKind kind) override {
    return std::visit([&](const auto& op) { return made(op, kind); }, operation);
  }
  void update(ProcessorMemory& memory, const SgdCoefficients& k,
              const UpdateRanges& ranges) override {
    updates().run(static_cast<RangeMemory&>(memory), k, ranges);
  }
  void update(ProcessorMemory& memory, const AdamCoefficients& k,
              const UpdateRanges& ranges) override {
    updates().run(static_cast<RangeMemory&>(memory), k, ranges);
  }
  std::unique_ptr<ProcessorMemory> attach(std::span<std::byte> pool, std::size_t device_bytes,
                                          std::span<const MemoryRange> ranges) override {
    return std::make_unique<RangeMemory>(device_, pool, device_bytes, ranges);
  }

 private:
  Step made(const std::monostate&, StepKind) { return nullptr; }
  template <class Op>
  Step made(const Op& op, StepKind kind) {
    return opencl::make_step(device_, op, kind);
  }

  Updates& updates() {
    if (!updates_) updates_.emplace(device_);
    return *updates_;
  }

  Device device_;
  std::optional<Updates> updates_;
};

}  // namespace
}  // namespace opencl

std::unique_ptr<Processor> open_opencl(const ProcessorOptions& options) {
  opencl::DeviceOptions device;
  device.name = options.device;
  device.cache_folder = options.cache_folder;
  device.answer_seconds = options.answer_seconds;
  device.share_memory = options.share_memory;
  return std::make_unique<opencl::OpenclProcessor>(device);
}

}  // namespace moil
