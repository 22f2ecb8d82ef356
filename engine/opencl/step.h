// What the files of the layer types have in common: a step over an operation.
#pragma once

#include <memory>

#include "engine/opencl/kernel.h"

namespace moil::opencl {

// A step that knows its device and its operation.
template <class Op>
class StepOf : public ProcessorStep {
 public:
  StepOf(Device& device, const Op& op, StepKind kind) : device_(device), op_(op), kind_(kind) {}

  void run(ProcessorMemory& memory, const StepCall& call) final {
    auto& ranges = static_cast<RangeMemory&>(memory);
    if (kind_ == StepKind::kForward)
      forward(ranges, call.ranges);
    else if (kind_ == StepKind::kComputeGradient)
      gradient(ranges, call.ranges, call.accumulate);
    else
      derivative(ranges, call.ranges);
  }

 protected:
  virtual void forward(const RangeMemory& memory, const StepRanges& ranges) = 0;
  virtual void gradient(const RangeMemory&, const StepRanges&, bool /*accumulate*/) {
    throw Error(ErrorCode::kInternal, "OpenCL: this layer has no gradient");
  }
  virtual void derivative(const RangeMemory& memory, const StepRanges& ranges) = 0;

  Device& device_;
  const Op op_;
  const StepKind kind_;
};

using Step = std::unique_ptr<ProcessorStep>;

// One a file. Null if there is no way of computing it.
Step make_step(Device& device, const operation::Convolution& op, StepKind kind);
Step make_step(Device& device, const operation::FullyConnected& op, StepKind kind);
Step make_step(Device& device, const operation::BatchNorm& op, StepKind kind);
Step make_step(Device& device, const operation::Activation& op, StepKind kind);
Step make_step(Device& device, const operation::MaxPool& op, StepKind kind);
Step make_step(Device& device, const operation::AveragePool& op, StepKind kind);
Step make_step(Device& device, const operation::GlobalAveragePool& op, StepKind kind);
Step make_step(Device& device, const operation::Addition& op, StepKind kind);
Step make_step(Device& device, const operation::FanOut& op, StepKind kind);
Step make_step(Device& device, const operation::Softmax& op, StepKind kind);
Step make_step(Device& device, const operation::Loss& op, StepKind kind);
// A depthwise convolution has kernels of its own.
Step make_depthwise_step(Device& device, const operation::Convolution& op, StepKind kind);

}  // namespace moil::opencl
