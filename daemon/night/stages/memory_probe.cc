#include "daemon/night/stages/memory_probe.h"

#include <algorithm>
#include <vector>

#include "base/process_memory.h"
#include "engine/device/conv/kernel_selector.h"

namespace moil::night {
namespace {

// One small convolution by every kernel: thread pools and packing buffers are there afterwards.
void warm_up() {
  KernelSelector::Options options;
  options.measure = false;
  const KernelSelector kernels(options);
  const ConvShape shape{.batch = 4, .in_channels = 32, .in_h = 8, .in_w = 8, .out_channels = 32};
  for (const auto& kernel : kernels.candidates(shape, ConvStep::kForward)) {
    std::vector<float> input(4 * 32 * 8 * 8, 1.0F), weights(32 * 32, 1.0F), output(input.size());
    std::vector<std::byte> workspace(kernel->workspace_bytes() + 64);
    auto address = reinterpret_cast<std::uintptr_t>(workspace.data());
    ConvArgs args;
    args.input = input.data();
    args.weights = weights.data();
    args.output = output.data();
    args.workspace = workspace.data() + (64 - address % 64) % 64;
    kernel->run(args);
  }
}

}  // namespace

MemoryProbe::MemoryProbe() {
  warm_up();
  release_idle_memory();
  reset_peak_memory();
  baseline_ = resident_memory().bytes;
}

void MemoryProbe::begin_part() {
  before_part_ = peak_bytes();
  release_idle_memory();
  reset_peak_memory();
}

std::size_t MemoryProbe::peak_bytes() const { return std::max(before_part_, part_peak_bytes()); }

std::size_t MemoryProbe::part_peak_bytes() const {
  const std::size_t peak = resident_memory().peak_bytes;
  return peak > baseline_ ? peak - baseline_ : 0;
}

}  // namespace moil::night
