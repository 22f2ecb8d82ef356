#include <optional>

#include "engine/opencl/step.h"

namespace moil::opencl {
namespace {

// One work item a row or the whole. The numbers are those of Loss::Kind. An element
// whose target is NaN counts nothing; for softmax such elements share what the others leave of 1
// (kernels/rows/softmax.h).
constexpr const char* kLossSource = R"CL(
float slope_of(float x, float t, int kind, float delta) {
  if (isnan(t)) return 0;
  if (kind == 1) return 1.0f / (1.0f + exp(-x)) - t;
  if (kind == 2) return 2.0f * (x - t);
  return isnan(x) ? x : clamp(x - t, -delta, delta);
}

float loss_of(float x, float t, int kind, float delta) {
  if (isnan(t)) return 0;
  if (kind == 1) return fmax(x, 0.0f) - x * t + log1p(exp(-fabs(x)));
  const float e = x - t;
  if (kind == 2) return e * e;
  const float inner = fmin(fabs(e), delta);
  return 0.5f * inner * inner + delta * (fabs(e) - inner);
}

// Where the largest of a row and the sum of e^(x - largest) are wanted.
float2 exponents(global const float* x, int columns) {
  float most = -INFINITY, total = 0;
  for (int c = 0; c < columns; ++c) most = fmax(most, x[c]);
  for (int c = 0; c < columns; ++c) total += exp(x[c] - most);
  return (float2)(most, total);
}

// The same of the elements whose target is NaN, or of all others.
float2 exponents_of(global const float* x, global const float* t, int columns, int open) {
  float most = -INFINITY, total = 0;
  for (int c = 0; c < columns; ++c)
    if (isnan(t[c]) == open) most = fmax(most, x[c]);
  for (int c = 0; c < columns; ++c)
    if (isnan(t[c]) == open) total += exp(x[c] - most);
  return (float2)(most, total);
}

float open_row_loss(global const float* x, global const float* t, int columns) {
  const float2 open = exponents_of(x, t, columns, 1), known = exponents_of(x, t, columns, 0);
  const float log_open = open.x + log(open.y), odds = known.x + log(known.y) - log_open;
  const float open_loss = fmax(odds, 0.0f) + log1p(exp(-fabs(odds)));
  float total = open_loss;
  for (int c = 0; c < columns; ++c)
    if (!isnan(t[c])) total += t[c] * (log_open - x[c]);
  return total;
}

void open_row_slope(global const float* x, global const float* t, global float* dx, int columns,
                    float scale) {
  const float2 open = exponents_of(x, t, columns, 1), known = exponents_of(x, t, columns, 0);
  const float odds = known.x + log(known.y) - open.x - log(open.y);
  const float p = 1.0f / (1.0f + exp(-odds));
  float known_target = 0;
  for (int c = 0; c < columns; ++c)
    if (!isnan(t[c])) known_target += t[c];
  for (int c = 0; c < columns; ++c) {
    const float open_slope = exp(x[c] - open.x) / open.y * (known_target - p);
    dx[c] = scale * (isnan(t[c]) ? open_slope : exp(x[c] - known.x) / known.y * p - t[c]);
  }
}

kernel void row_losses(global const float* prediction, global const float* target,
                       global float* losses, int columns, int kind, float delta, int places) {
  const int r = get_global_id(0);
  if (r >= places) return;
  global const float* x = prediction + r * columns;
  global const float* t = target + r * columns;
  float total = 0;
  if (kind == 0) {
    const float2 e = exponents(x, columns);
    const float log_sum = e.x + log(e.y);
    for (int c = 0; c < columns; ++c) total += t[c] * (log_sum - x[c]);
    float targets = 0;
    for (int c = 0; c < columns; ++c) targets += t[c];
    if (isnan(targets)) total = open_row_loss(x, t, columns);
  } else {
    for (int c = 0; c < columns; ++c) total += loss_of(x[c], t[c], kind, delta);
  }
  losses[r] = total;
}

// Compensated (Kahan 1965): a batch may have as many rows as an image has pixels.
kernel void total_loss(global const float* losses, global float* out, int rows, float divisor,
                       int places) {
  if (get_global_id(0) > 0) return;
  float total = 0, rest = 0;
  for (int r = 0; r < rows; ++r) {
    const float y = losses[r] - rest, next = total + y;
    rest = (next - total) - y;
    total = next;
  }
  out[0] = total / divisor;
}

// dx may be the prediction.
kernel void loss_derivative(global const float* prediction, global const float* target,
                            global float* dx, int columns, int kind, float delta, float scale,
                            int places) {
  const int r = get_global_id(0);
  if (r >= places) return;
  const int at = r * columns;
  if (kind == 0) {
    const float2 e = exponents(prediction + at, columns);
    float target_sum = 0;
    for (int c = 0; c < columns; ++c) target_sum += target[at + c];
    if (isnan(target_sum)) {
      open_row_slope(prediction + at, target + at, dx + at, columns, scale);
      return;
    }
    for (int c = 0; c < columns; ++c) {
      const float p = exp(prediction[at + c] - e.x) / e.y;
      dx[at + c] = scale * (p * target_sum - target[at + c]);
    }
    return;
  }
  for (int c = at; c < at + columns; ++c)
    dx[c] = scale * slope_of(prediction[c], target[c], kind, delta);
}
)CL";

class Loss final : public StepOf<operation::Loss> {
 public:
  Loss(Device& device, const operation::Loss& op, StepKind kind)
      : StepOf(device, op, kind),
        rows_(device, kLossSource, "row_losses"),
        total_(device, kLossSource, "total_loss"),
        derivative_(device, kLossSource, "loss_derivative") {}

  std::size_t workspace_bytes() const override {
    return kind_ == StepKind::kForward ? static_cast<std::size_t>(op_.rows) * sizeof(float) : 0;
  }

 private:
  cl_int kind() const { return static_cast<cl_int>(op_.kind); }

  void forward(const RangeMemory& memory, const StepRanges& r) override {
    const cl_mem prediction = memory.buffer(r.inputs[0]), target = memory.buffer(r.inputs[1]);
    const cl_mem scratch = memory.buffer(r.workspace);
    rows_.run(op_.rows, prediction, target, scratch, op_.columns, kind(), op_.delta);
    total_.run(1, scratch, memory.buffer(r.outputs[0]), op_.rows, static_cast<float>(op_.divisor));
  }
  void derivative(const RangeMemory& memory, const StepRanges& r) override {
    derivative_.run(op_.rows, memory.buffer(r.inputs[0]), memory.buffer(r.inputs[1]),
                    memory.buffer(r.input_derivatives[0]), op_.columns, kind(), op_.delta,
                    static_cast<float>(1 / op_.divisor));
  }

  Kernel rows_, total_, derivative_;
};

}  // namespace

Step make_step(Device& device, const operation::Loss& op, StepKind kind) {
  return std::make_unique<Loss>(device, op, kind);
}

}  // namespace moil::opencl
