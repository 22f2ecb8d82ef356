// A made-up processor on the host's memory.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/device/processor.h"
#include "engine/kernels/rows/update.h"

namespace moil::test {

class HostMemory final : public ProcessorMemory {
 public:
  HostMemory(std::span<std::byte> pool, std::span<const MemoryRange> ranges)
      : pool_(pool), ranges_(ranges.begin(), ranges.end()) {}
  void take(RangeId, bool) override {}
  void give(RangeId, bool, bool) override {}
  void retire(RangeId) override {}
  void finish() override {}
  bool is_lost() const override { return false; }
  float* at(RangeId range) const {
    return reinterpret_cast<float*>(&pool_[ranges_[static_cast<std::size_t>(range)].offset]);
  }

 private:
  std::span<std::byte> pool_;
  std::vector<MemoryRange> ranges_;
};

// It updates weights, by coefficients that `change` may spoil, and computes nothing else.
class UpdatesAlone final : public Processor {
 public:
  explicit UpdatesAlone(std::function<void(SgdCoefficients&)> change)
      : change_(std::move(change)) {}
  std::string_view name() const override { return "updates"; }
  std::string device() const override { return "updates alone"; }
  bool is_the_cpu() const override { return false; }
  bool shares_memory() const override { return true; }
  std::size_t alignment() const override { return 64; }
  std::unique_ptr<ProcessorStep> make_step(const Operation&, StepKind) override { return nullptr; }
  void update(ProcessorMemory& memory, const SgdCoefficients& k, const UpdateRanges& r) override {
    SgdCoefficients changed = k;
    change_(changed);
    const auto& host = dynamic_cast<HostMemory&>(memory);
    sgd_update(changed, host.at(r.weight), host.at(r.gradient), host.at(r.first_state), 0,
               r.elements);
  }
  void update(ProcessorMemory&, const AdamCoefficients&, const UpdateRanges&) override { FAIL(); }
  std::unique_ptr<ProcessorMemory> attach(std::span<std::byte> pool, std::size_t,
                                          std::span<const MemoryRange> ranges) override {
    return std::make_unique<HostMemory>(pool, ranges);
  }

 private:
  std::function<void(SgdCoefficients&)> change_;
};

}  // namespace moil::test
