#include <algorithm>
#include <optional>

#include "engine/opencl/bias.h"
#include "engine/opencl/column_sum.h"
#include "engine/opencl/gemm.h"
#include "engine/opencl/step.h"

namespace moil::opencl {
namespace {

class FullyConnected final : public StepOf<operation::FullyConnected> {
 public:
  FullyConnected(Device& device, const operation::FullyConnected& op, StepKind kind)
      : StepOf(device, op, kind) {
    if (kind == StepKind::kForward) epilogue_.emplace(device);
    if (kind == StepKind::kComputeGradient && op.trains_bias) bias_sum_.emplace(device);
  }

  std::size_t workspace_bytes() const override {
    if (kind_ == StepKind::kForward)
      return gemm_workspace_bytes(device_, op_.rows, op_.units, op_.features, x({}), w({}, true),
                                  y({}));
    if (kind_ == StepKind::kComputeDerivative)
      return gemm_workspace_bytes(device_, op_.rows, op_.features, op_.units, y({}), w({}), x({}));
    std::size_t bytes = 0;
    if (op_.trains_weight)
      bytes = gemm_workspace_bytes(device_, op_.units, op_.features, op_.rows, y({}, true), x({}),
                                   w({}));
    if (op_.trains_bias) bytes = std::max(bytes, ColumnSum::workspace_bytes(op_.rows, op_.units));
    return bytes;
  }

 private:
  Matrix x(cl_mem buffer) const { return {buffer, 0, op_.features, false}; }
  Matrix w(cl_mem buffer, bool transposed = false) const {
    return {buffer, 0, op_.features, transposed};
  }
  Matrix y(cl_mem buffer, bool transposed = false) const {
    return {buffer, 0, op_.units, transposed};
  }

  void forward(const RangeMemory& memory, const StepRanges& r) override {
    const cl_mem out = memory.buffer(r.outputs[0]);
    gemm(device_, op_.rows, op_.units, op_.features, x(memory.buffer(r.inputs[0])),
         w(memory.buffer(r.weights[0]), true), y(out), false, memory.buffer(r.workspace));
    epilogue_->run(op_.rows, op_.units, out, op_.bias ? memory.buffer(r.weights[1]) : nullptr,
                   op_.activation);
  }
  void gradient(const RangeMemory& memory, const StepRanges& r, bool accumulate) override {
    const cl_mem dy = memory.buffer(r.output_derivatives[0]);
    if (op_.trains_weight)
      gemm(device_, op_.units, op_.features, op_.rows, y(dy, true), x(memory.buffer(r.inputs[0])),
           w(memory.buffer(r.gradients[0])), accumulate, memory.buffer(r.workspace));
    if (op_.trains_bias)
      bias_sum_->run(op_.rows, op_.units, dy, memory.buffer(r.gradients[1]), accumulate,
                     memory.buffer(r.workspace));
  }
  void derivative(const RangeMemory& memory, const StepRanges& r) override {
    gemm(device_, op_.rows, op_.features, op_.units, y(memory.buffer(r.output_derivatives[0])),
         w(memory.buffer(r.weights[0])), x(memory.buffer(r.input_derivatives[0])), false,
         memory.buffer(r.workspace));
  }

  std::optional<BiasAndActivation> epilogue_;
  std::optional<ColumnSum> bias_sum_;
};

}  // namespace

Step make_step(Device& device, const operation::FullyConnected& op, StepKind kind) {
  return std::make_unique<FullyConnected>(device, op, kind);
}

}  // namespace moil::opencl
