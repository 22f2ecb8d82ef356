#include "engine/opencl/step.h"

namespace moil::opencl {
namespace {

// One work item a row.
constexpr const char* kSoftmaxSource = R"CL(
kernel void softmax_rows(global const float* in, global float* out, int columns, int logarithm,
                         int places) {
  const int r = get_global_id(0);
  if (r >= places) return;
  global const float* x = in + r * columns;
  global float* y = out + r * columns;
  float most = -INFINITY, total = 0;
  for (int c = 0; c < columns; ++c) most = fmax(most, x[c]);
  for (int c = 0; c < columns; ++c) total += exp(x[c] - most);
  const float log_total = log(total);
  for (int c = 0; c < columns; ++c)
    y[c] = logarithm ? x[c] - most - log_total : exp(x[c] - most) / total;
}

kernel void softmax_derivative(global const float* saved, global const float* grad,
                               global float* out, int columns, int logarithm, int places) {
  const int r = get_global_id(0);
  if (r >= places) return;
  global const float* y = saved + r * columns;
  global const float* dy = grad + r * columns;
  global float* dx = out + r * columns;
  float total = 0;
  for (int c = 0; c < columns; ++c) total += logarithm ? dy[c] : y[c] * dy[c];
  for (int c = 0; c < columns; ++c)
    dx[c] = logarithm ? dy[c] - exp(y[c]) * total : y[c] * (dy[c] - total);
}
)CL";

class Softmax final : public StepOf<operation::Softmax> {
 public:
  Softmax(Device& device, const operation::Softmax& op, StepKind kind)
      : StepOf(device, op, kind),
        kernel_(device, kSoftmaxSource,
                kind == StepKind::kForward ? "softmax_rows" : "softmax_derivative") {}

 private:
  void forward(const RangeMemory& memory, const StepRanges& r) override {
    kernel_.run(op_.rows, memory.buffer(r.inputs[0]), memory.buffer(r.outputs[0]), op_.columns,
                op_.logarithm);
  }
  void derivative(const RangeMemory& memory, const StepRanges& r) override {
    kernel_.run(op_.rows, memory.buffer(r.outputs[0]), memory.buffer(r.output_derivatives[0]),
                memory.buffer(r.input_derivatives[0]), op_.columns, op_.logarithm);
  }

  Kernel kernel_;
};

}  // namespace

Step make_step(Device& device, const operation::Softmax& op, StepKind kind) {
  return std::make_unique<Softmax>(device, op, kind);
}

}  // namespace moil::opencl
