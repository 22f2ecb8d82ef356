#include <optional>
#include <string>

#include "engine/opencl/bias.h"
#include "engine/opencl/column_sum.h"
#include "engine/opencl/numbers.h"
#include "engine/opencl/step.h"

namespace moil::opencl {
namespace {

// Images [N, H, W, C], weights [KH, KW, C].
const std::string kDepthwiseSource = std::string(kConvShape) + R"CL(
kernel void depthwise(global const float* in, global const float* weights, global float* out,
                      int16 numbers, int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  const Shape s = shape_of(numbers);
  const int c = i % s.channels, x = i / s.channels % s.out_w;
  const int row = i / s.channels / s.out_w, n = row / s.out_h, y = row % s.out_h;
  float total = 0;
  for (int ky = 0; ky < s.kernel_h; ++ky) {
    const int iy = y * s.stride_h - s.top + ky * s.gap_h;
    if (iy < 0 || iy >= s.in_h) continue;
    for (int kx = 0; kx < s.kernel_w; ++kx) {
      const int ix = x * s.stride_w - s.left + kx * s.gap_w;
      if (ix < 0 || ix >= s.in_w) continue;
      total += in[((n * s.in_h + iy) * s.in_w + ix) * s.channels + c] *
               weights[(ky * s.kernel_w + kx) * s.channels + c];
    }
  }
  out[i] = total;
}

kernel void depthwise_derivative(global const float* dy, global const float* weights,
                                 global float* dx, int16 numbers, int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  const Shape s = shape_of(numbers);
  const int c = i % s.channels, x = i / s.channels % s.in_w;
  const int row = i / s.channels / s.in_w, n = row / s.in_h, y = row % s.in_h;
  float total = 0;
  for (int ky = 0; ky < s.kernel_h; ++ky) {
    const int oy = y + s.top - ky * s.gap_h;
    if (oy < 0 || oy % s.stride_h != 0 || oy / s.stride_h >= s.out_h) continue;
    for (int kx = 0; kx < s.kernel_w; ++kx) {
      const int ox = x + s.left - kx * s.gap_w;
      if (ox < 0 || ox % s.stride_w != 0 || ox / s.stride_w >= s.out_w) continue;
      total += dy[((n * s.out_h + oy / s.stride_h) * s.out_w + ox / s.stride_w) * s.channels + c] *
               weights[(ky * s.kernel_w + kx) * s.channels + c];
    }
  }
  dx[i] = total;
}

// Parts of the output's rows (batch * out_h); place = (part * taps + tap) * channels + c.
kernel void depthwise_gradient_parts(global const float* in, global const float* dy,
                                     global float* out, int rows, int parts, int16 numbers,
                                     int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  const Shape s = shape_of(numbers);
  const int taps = s.kernel_h * s.kernel_w;
  const int c = i % s.channels, tap = i / s.channels % taps, part = i / s.channels / taps;
  const int ky = tap / s.kernel_w, kx = tap % s.kernel_w;
  const int end = (int)((long)rows * (part + 1) / parts);
  float total = 0;
  for (int row = (int)((long)rows * part / parts); row < end; ++row) {
    const int n = row / s.out_h, iy = row % s.out_h * s.stride_h - s.top + ky * s.gap_h;
    if (iy < 0 || iy >= s.in_h) continue;
    for (int x = 0; x < s.out_w; ++x) {
      const int ix = x * s.stride_w - s.left + kx * s.gap_w;
      if (ix < 0 || ix >= s.in_w) continue;
      total += in[((n * s.in_h + iy) * s.in_w + ix) * s.channels + c] *
               dy[(row * s.out_w + x) * s.channels + c];
    }
  }
  out[i] = total;
}

kernel void depthwise_gradient_total(global const float* in, global float* out, int parts,
                                     int accumulate, int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  float total = 0;
  for (int p = 0; p < parts; ++p) total += in[p * places + i];
  out[i] = accumulate ? out[i] + total : total;
}
)CL";

class Depthwise final : public StepOf<operation::Convolution> {
 public:
  Depthwise(Device& device, const operation::Convolution& op, StepKind kind)
      : StepOf(device, op, kind),
        numbers_(numbers_of(op.shape)),
        forward_(device, kDepthwiseSource.c_str(), "depthwise"),
        derivative_(device, kDepthwiseSource.c_str(), "depthwise_derivative"),
        parts_(device, kDepthwiseSource.c_str(), "depthwise_gradient_parts"),
        total_(device, kDepthwiseSource.c_str(), "depthwise_gradient_total"),
        epilogue_(device),
        bias_sum_(device) {}

  std::size_t workspace_bytes() const override {
    if (kind_ != StepKind::kComputeGradient) return 0;
    const auto weights = static_cast<std::size_t>(sum_parts(rows()) * taps()) * sizeof(float);
    const std::size_t bias = ColumnSum::workspace_bytes(op_.shape.out_pixels(), channels());
    return std::max(op_.trains_weight ? weights : 0, op_.trains_bias ? bias : 0);
  }

 private:
  std::int64_t channels() const { return op_.shape.in_channels; }
  std::int64_t taps() const { return op_.shape.kernel_area() * channels(); }  // elements of weights
  std::int64_t rows() const { return op_.shape.batch * op_.shape.out_h(); }

  void forward(const RangeMemory& memory, const StepRanges& r) override {
    const cl_mem out = memory.buffer(r.outputs[0]);
    forward_.run(op_.shape.out_elements(), memory.buffer(r.inputs[0]), memory.buffer(r.weights[0]),
                 out, numbers_);
    epilogue_.run(op_.shape.out_pixels(), channels(), out,
                  op_.bias ? memory.buffer(r.weights[1]) : nullptr, op_.activation);
  }
  void gradient(const RangeMemory& memory, const StepRanges& r, bool accumulate) override {
    const cl_mem dy = memory.buffer(r.output_derivatives[0]);
    const cl_mem scratch = memory.buffer(r.workspace);
    if (op_.trains_weight) {
      const std::int64_t parts = sum_parts(rows());
      parts_.run(parts * taps(), memory.buffer(r.inputs[0]), dy, scratch, rows(), parts, numbers_);
      total_.run(taps(), scratch, memory.buffer(r.gradients[0]), parts, accumulate);
    }
    if (op_.trains_bias)
      bias_sum_.run(op_.shape.out_pixels(), channels(), dy, memory.buffer(r.gradients[1]),
                    accumulate, scratch);
  }
  void derivative(const RangeMemory& memory, const StepRanges& r) override {
    derivative_.run(op_.shape.in_elements(), memory.buffer(r.output_derivatives[0]),
                    memory.buffer(r.weights[0]), memory.buffer(r.input_derivatives[0]), numbers_);
  }

  cl_int16 numbers_;
  Kernel forward_, derivative_, parts_, total_;
  BiasAndActivation epilogue_;
  ColumnSum bias_sum_;
};

}  // namespace

Step make_depthwise_step(Device& device, const operation::Convolution& op, StepKind kind) {
  return std::make_unique<Depthwise>(device, op, kind);
}

}  // namespace moil::opencl
