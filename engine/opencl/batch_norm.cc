#include <optional>

#include "engine/opencl/column_sum.h"
#include "engine/opencl/step.h"

namespace moil::opencl {
namespace {

// `own` is the batch's mean and 1 / deviation, [2, channels]; `sums` are of dy and of
// dy * (x - mean), [2, channels].
constexpr const char* kBatchNormSource = R"CL(
float inverse_deviation(float variance, float epsilon) { return 1.0f / sqrt(variance + epsilon); }

kernel void square_parts(global const float* x, global const float* own, global float* out,
                         int rows, int channels, int parts, int at, int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  const int part = i / channels, c = i % channels;
  const int begin = (int)((long)rows * part / parts);
  const int end = (int)((long)rows * (part + 1) / parts);
  float total = 0;
  for (int r = begin; r < end; ++r) {
    const float d = x[r * channels + c] - own[c];
    total += d * d;
  }
  out[at + i] = total;
}

// own[c] holds the sum of x until now.
kernel void mean_of_sum(global float* own, int rows, int places) {
  const int c = get_global_id(0);
  if (c < places) own[c] /= (float)rows;
}

kernel void finish_statistics(global const float* squares, global float* own,
                              global float* running_mean, global float* running_var, int rows,
                              int parts, int at, float momentum, float epsilon, int places) {
  const int c = get_global_id(0);
  if (c >= places) return;
  float total = 0;
  for (int p = 0; p < parts; ++p) total += squares[at + p * places + c];
  const float variance = total / (float)rows, unbiased = total / (float)(rows - 1);
  own[places + c] = inverse_deviation(variance, epsilon);
  running_mean[c] = (1.0f - momentum) * running_mean[c] + momentum * own[c];
  running_var[c] = (1.0f - momentum) * running_var[c] + momentum * unbiased;
}

// own null: by the running statistics.
kernel void normalise(global const float* x, global float* y, global const float* own,
                      global const float* gamma, global const float* beta,
                      global const float* running_mean, global const float* running_var,
                      int channels, float epsilon, int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  const int c = i % channels;
  const float mean = own ? own[c] : running_mean[c];
  const float inverse = own ? own[channels + c] : inverse_deviation(running_var[c], epsilon);
  const float scale = gamma[c] * inverse;
  y[i] = x[i] * scale + (beta[c] - mean * scale);
}

// x null: the sums of dy alone.
kernel void derivative_parts(global const float* x, global const float* dy,
                             global const float* mean, global float* out, int rows, int channels,
                             int parts, int at, int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  const int part = i / channels, c = i % channels;
  const int begin = (int)((long)rows * part / parts);
  const int end = (int)((long)rows * (part + 1) / parts);
  float of_dy = 0, of_product = 0;
  for (int r = begin; r < end; ++r) {
    const float g = dy[r * channels + c];
    of_dy += g;
    if (x) of_product += g * (x[r * channels + c] - mean[c]);
  }
  out[at + i] = of_dy;
  out[at + places + i] = of_product;
}

kernel void derivative_totals(global const float* in, global float* sums, int parts, int at,
                              int places) {
  const int c = get_global_id(0);
  if (c >= places) return;
  float of_dy = 0, of_product = 0;
  for (int p = 0; p < parts; ++p) {
    of_dy += in[at + p * places + c];
    of_product += in[at + (parts + p) * places + c];
  }
  sums[c] = of_dy;
  sums[places + c] = of_product;
}

kernel void write_gradients(global const float* sums, global const float* own,
                            global const float* running_var, global float* gamma,
                            global float* beta, float epsilon, int accumulate, int places) {
  const int c = get_global_id(0);
  if (c >= places) return;
  const float inverse = own ? own[places + c] : inverse_deviation(running_var[c], epsilon);
  if (beta) beta[c] = accumulate ? beta[c] + sums[c] : sums[c];
  const float of_gamma = sums[places + c] * inverse;
  if (gamma) gamma[c] = accumulate ? gamma[c] + of_gamma : of_gamma;
}

// sums null: the running statistics normalised, which do not depend on x.
kernel void normalised_derivative(global const float* x, global const float* dy, global float* dx,
                                  global const float* own, global const float* sums,
                                  global const float* gamma, global const float* running_var,
                                  int rows, int channels, float epsilon, int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  const int c = i % channels;
  if (!sums) {
    dx[i] = dy[i] * (gamma[c] * inverse_deviation(running_var[c], epsilon));
    return;
  }
  const float inverse = own[channels + c];
  const float offset = sums[c] / (float)rows;
  const float slope = sums[channels + c] / (float)rows * inverse * inverse;
  dx[i] = gamma[c] * inverse * (dy[i] - offset - (x[i] - own[c]) * slope);
}
)CL";

enum Weight : std::size_t { kGamma, kBeta, kRunningMean, kRunningVar };

// The workspace holds what a step keeps for itself if no saved tensor does, [2, channels], and
// the parts of sums behind it.
class BatchNorm final : public StepOf<operation::BatchNorm> {
 public:
  BatchNorm(Device& device, const operation::BatchNorm& op, StepKind kind);
  std::size_t workspace_bytes() const override;

 private:
  std::int64_t elements() const { return op_.shape.rows * op_.shape.channels; }
  std::int64_t parts() const { return sum_parts(op_.shape.rows); }
  float epsilon() const { return static_cast<float>(op_.epsilon); }

  void forward(const RangeMemory& memory, const StepRanges& r) override;
  void gradient(const RangeMemory& memory, const StepRanges& r, bool accumulate) override;
  void derivative(const RangeMemory& memory, const StepRanges& r) override;
  void derivative_sums(const RangeMemory& memory, const StepRanges& r, bool of_products,
                       cl_mem sums);
  // Null if the running statistics normalise.
  cl_mem own(const RangeMemory& memory, const StepRanges& r) const {
    if (!op_.batch_statistics) return nullptr;
    return memory.buffer(op_.keeps_statistics ? r.saved[0] : r.workspace);
  }
  cl_mem sums(const RangeMemory& memory, const StepRanges& r) const {
    return memory.buffer(op_.keeps_sums ? r.saved[1] : r.workspace);
  }

  ColumnSum column_sum_;
  Kernel mean_, squares_, finish_, normalise_, parts_, totals_, gradients_, derivative_;
};

BatchNorm::BatchNorm(Device& device, const operation::BatchNorm& op, StepKind kind)
    : StepOf(device, op, kind),
      column_sum_(device),
      mean_(device, kBatchNormSource, "mean_of_sum"),
      squares_(device, kBatchNormSource, "square_parts"),
      finish_(device, kBatchNormSource, "finish_statistics"),
      normalise_(device, kBatchNormSource, "normalise"),
      parts_(device, kBatchNormSource, "derivative_parts"),
      totals_(device, kBatchNormSource, "derivative_totals"),
      gradients_(device, kBatchNormSource, "write_gradients"),
      derivative_(device, kBatchNormSource, "normalised_derivative") {}

std::size_t BatchNorm::workspace_bytes() const {
  if (!op_.batch_statistics && kind_ != StepKind::kComputeGradient) return 0;
  const std::int64_t arrays = kind_ == StepKind::kForward ? 1 : 2;  // of parts
  return static_cast<std::size_t>((2 + arrays * parts()) * op_.shape.channels) * sizeof(float);
}

void BatchNorm::forward(const RangeMemory& memory, const StepRanges& r) {
  const auto [rows, channels] = op_.shape;
  const cl_mem x = memory.buffer(r.inputs[0]), scratch = memory.buffer(r.workspace);
  const cl_mem running_mean = memory.buffer(r.weights[kRunningMean]);
  const cl_mem running_var = memory.buffer(r.weights[kRunningVar]);
  const cl_mem statistics = own(memory, r);
  if (op_.batch_statistics) {
    const std::int64_t at = 2 * channels;
    column_sum_.run(rows, channels, x, statistics, false, scratch, at);
    mean_.run(channels, statistics, rows);
    squares_.run(parts() * channels, x, statistics, scratch, rows, channels, parts(), at);
    finish_.run(channels, scratch, statistics, running_mean, running_var, rows, parts(), at,
                static_cast<float>(op_.momentum), epsilon());
  }
  normalise_.run(elements(), x, memory.buffer(r.outputs[0]), statistics,
                 memory.buffer(r.weights[kGamma]), memory.buffer(r.weights[kBeta]), running_mean,
                 running_var, channels, epsilon());
}

void BatchNorm::derivative_sums(const RangeMemory& memory, const StepRanges& r, bool of_products,
                                cl_mem sums) {
  const auto [rows, channels] = op_.shape;
  const std::int64_t at = 2 * channels;
  const cl_mem mean =
      op_.batch_statistics ? own(memory, r) : memory.buffer(r.weights[kRunningMean]);
  const cl_mem scratch = memory.buffer(r.workspace);
  parts_.run(parts() * channels, of_products ? memory.buffer(r.inputs[0]) : nullptr,
             memory.buffer(r.output_derivatives[0]), mean, scratch, rows, channels, parts(), at);
  totals_.run(channels, scratch, sums, parts(), at);
}

void BatchNorm::gradient(const RangeMemory& memory, const StepRanges& r, bool accumulate) {
  const cl_mem totals = sums(memory, r);
  derivative_sums(memory, r, op_.trains_gamma || op_.keeps_sums, totals);
  gradients_.run(op_.shape.channels, totals, own(memory, r), memory.buffer(r.weights[kRunningVar]),
                 op_.trains_gamma ? memory.buffer(r.gradients[kGamma]) : nullptr,
                 op_.trains_beta ? memory.buffer(r.gradients[kBeta]) : nullptr, epsilon(),
                 accumulate);
}

void BatchNorm::derivative(const RangeMemory& memory, const StepRanges& r) {
  const cl_mem totals = op_.batch_statistics ? sums(memory, r) : nullptr;
  if (op_.batch_statistics && !op_.keeps_sums) derivative_sums(memory, r, true, totals);
  derivative_.run(elements(), op_.batch_statistics ? memory.buffer(r.inputs[0]) : nullptr,
                  memory.buffer(r.output_derivatives[0]), memory.buffer(r.input_derivatives[0]),
                  own(memory, r), totals, memory.buffer(r.weights[kGamma]),
                  memory.buffer(r.weights[kRunningVar]), op_.shape.rows, op_.shape.channels,
                  epsilon());
}

}  // namespace

Step make_step(Device& device, const operation::BatchNorm& op, StepKind kind) {
  return std::make_unique<BatchNorm>(device, op, kind);
}

}  // namespace moil::opencl
