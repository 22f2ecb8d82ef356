#include "engine/opencl/numbers.h"
#include "engine/opencl/step.h"

namespace moil::opencl {
namespace {

// One work item an element of what is written: an output, or a place of the input's derivative that
// gathers from the windows that cover it. A window's numbers come as int16: kernel, stride, padding
// (top, left, bottom, right), dilation, in, out, channels.
constexpr const char* kPoolingSource = R"CL(
typedef struct {
  int kernel_h, kernel_w, stride_h, stride_w, top, left, bottom, right, gap_h, gap_w;
  int in_h, in_w, out_h, out_w, channels;
} Window;

Window window_of(int16 n) {
  Window w;
  w.kernel_h = n.s0, w.kernel_w = n.s1, w.stride_h = n.s2, w.stride_w = n.s3;
  w.top = n.s4, w.left = n.s5, w.bottom = n.s6, w.right = n.s7, w.gap_h = n.s8, w.gap_w = n.s9;
  w.in_h = n.sa, w.in_w = n.sb, w.out_h = n.sc, w.out_w = n.sd, w.channels = n.se;
  return w;
}

// The place of an output's window that lies on `at` of the padded input; -1 where none does.
int place_in(int at, int out, int stride, int gap, int kernel_size) {
  const int distance = at - out * stride;
  if (distance < 0 || distance % gap != 0) return -1;
  return distance / gap < kernel_size ? distance / gap : -1;
}

int first_out(int at, int span, int stride) { return at < span ? 0 : (at - span) / stride + 1; }

float divisor(Window w, int count_padding, int y, int x) {
  const int top = y * w.stride_h - w.top, left = x * w.stride_w - w.left;
  const int bottom = min(top + w.kernel_h, w.in_h + w.bottom);
  const int right = min(left + w.kernel_w, w.in_w + w.right);
  if (count_padding) return (float)((bottom - top) * (right - left));
  return (float)((min(bottom, w.in_h) - max(top, 0)) * (min(right, w.in_w) - max(left, 0)));
}

kernel void max_pool(global const float* in, global float* out, global uchar* argmax, int wide,
                     int16 numbers, int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  const Window w = window_of(numbers);
  const int c = i % w.channels, x = i / w.channels % w.out_w;
  const int row = i / w.channels / w.out_w, n = row / w.out_h, y = row % w.out_h;
  float best = -INFINITY;
  int where = -1;
  for (int ky = 0; ky < w.kernel_h; ++ky) {
    const int iy = y * w.stride_h - w.top + ky * w.gap_h;
    if (iy < 0 || iy >= w.in_h) continue;
    for (int kx = 0; kx < w.kernel_w; ++kx) {
      const int ix = x * w.stride_w - w.left + kx * w.gap_w;
      if (ix < 0 || ix >= w.in_w) continue;
      const float v = in[((n * w.in_h + iy) * w.in_w + ix) * w.channels + c];
      if (where < 0) where = ky * w.kernel_w + kx;
      if (v > best || isnan(v)) {
        best = v;
        where = ky * w.kernel_w + kx;
      }
    }
  }
  out[i] = best;
  if (argmax && wide)
    ((global ushort*)argmax)[i] = (ushort)max(where, 0);
  else if (argmax)
    argmax[i] = (uchar)max(where, 0);
}

kernel void max_pool_derivative(global const float* dy, global const uchar* argmax,
                                global float* dx, int wide, int16 numbers, int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  const Window w = window_of(numbers);
  const int c = i % w.channels, x = i / w.channels % w.in_w;
  const int row = i / w.channels / w.in_w, n = row / w.in_h, y = row % w.in_h;
  const int span_h = (w.kernel_h - 1) * w.gap_h + 1, span_w = (w.kernel_w - 1) * w.gap_w + 1;
  const int end_y = min(w.out_h, (y + w.top) / w.stride_h + 1);
  const int end_x = min(w.out_w, (x + w.left) / w.stride_w + 1);
  float total = 0;
  for (int oy = first_out(y + w.top, span_h, w.stride_h); oy < end_y; ++oy) {
    const int ky = place_in(y + w.top, oy, w.stride_h, w.gap_h, w.kernel_h);
    if (ky < 0) continue;
    for (int ox = first_out(x + w.left, span_w, w.stride_w); ox < end_x; ++ox) {
      const int kx = place_in(x + w.left, ox, w.stride_w, w.gap_w, w.kernel_w);
      if (kx < 0) continue;
      const int at = ((n * w.out_h + oy) * w.out_w + ox) * w.channels + c;
      const int where = wide ? ((global const ushort*)argmax)[at] : argmax[at];
      if (where == ky * w.kernel_w + kx) total += dy[at];
    }
  }
  dx[i] = total;
}

kernel void average_pool(global const float* in, global float* out, int count_padding,
                         int16 numbers, int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  const Window w = window_of(numbers);
  const int c = i % w.channels, x = i / w.channels % w.out_w;
  const int row = i / w.channels / w.out_w, n = row / w.out_h, y = row % w.out_h;
  const int top = y * w.stride_h - w.top, left = x * w.stride_w - w.left;
  float total = 0;
  for (int iy = max(top, 0); iy < min(w.in_h, top + w.kernel_h); ++iy)
    for (int ix = max(left, 0); ix < min(w.in_w, left + w.kernel_w); ++ix)
      total += in[((n * w.in_h + iy) * w.in_w + ix) * w.channels + c];
  out[i] = total / divisor(w, count_padding, y, x);
}

kernel void average_pool_derivative(global const float* dy, global float* dx, int count_padding,
                                    int16 numbers, int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  const Window w = window_of(numbers);
  const int c = i % w.channels, x = i / w.channels % w.in_w;
  const int row = i / w.channels / w.in_w, n = row / w.in_h, y = row % w.in_h;
  const int end_y = min(w.out_h, (y + w.top) / w.stride_h + 1);
  const int end_x = min(w.out_w, (x + w.left) / w.stride_w + 1);
  float total = 0;
  for (int oy = first_out(y + w.top, w.kernel_h, w.stride_h); oy < end_y; ++oy)
    for (int ox = first_out(x + w.left, w.kernel_w, w.stride_w); ox < end_x; ++ox)
      total += dy[((n * w.out_h + oy) * w.out_w + ox) * w.channels + c] /
               divisor(w, count_padding, oy, ox);
  dx[i] = total;
}

kernel void global_average_pool(global const float* in, global float* out, int pixels,
                                int channels, int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  const int n = i / channels, c = i % channels;
  float total = 0;
  for (int block = 0; block < pixels; block += 64) {
    float part = 0;
    for (int p = block; p < min(pixels, block + 64); ++p) part += in[(n * pixels + p) * channels + c];
    total += part;
  }
  out[i] = total / (float)pixels;
}

kernel void global_average_pool_derivative(global const float* dy, global float* dx, int pixels,
                                           int channels, int places) {
  const int i = get_global_id(0);
  if (i < places) dx[i] = dy[i / channels / pixels * channels + i % channels] / (float)pixels;
}
)CL";

cl_int16 numbers_of(const PoolShape& s) {
  return packed({s.kernel_h, s.kernel_w, s.stride_h, s.stride_w, s.pad_top, s.pad_left,
                 s.pad_bottom, s.pad_right, s.dilation_h, s.dilation_w, s.in_h, s.in_w, s.out_h,
                 s.out_w, s.channels});
}

std::int64_t inputs_of(const PoolShape& s) { return s.batch * s.in_h * s.in_w * s.channels; }
std::int64_t outputs_of(const PoolShape& s) { return s.batch * s.out_h * s.out_w * s.channels; }

class MaxPool final : public StepOf<operation::MaxPool> {
 public:
  MaxPool(Device& device, const operation::MaxPool& op, StepKind kind)
      : StepOf(device, op, kind),
        numbers_(numbers_of(op.shape)),
        kernel_(device, kPoolingSource,
                kind == StepKind::kForward ? "max_pool" : "max_pool_derivative") {}

 private:
  bool wide() const { return argmax_bytes(op_.shape) == 2; }
  void forward(const RangeMemory& memory, const StepRanges& r) override {
    kernel_.run(outputs_of(op_.shape), memory.buffer(r.inputs[0]), memory.buffer(r.outputs[0]),
                op_.keeps_argmax ? memory.buffer(r.saved[0]) : nullptr, wide(), numbers_);
  }
  void derivative(const RangeMemory& memory, const StepRanges& r) override {
    kernel_.run(inputs_of(op_.shape), memory.buffer(r.output_derivatives[0]),
                memory.buffer(r.saved[0]), memory.buffer(r.input_derivatives[0]), wide(), numbers_);
  }

  cl_int16 numbers_;
  Kernel kernel_;
};

class AveragePool final : public StepOf<operation::AveragePool> {
 public:
  AveragePool(Device& device, const operation::AveragePool& op, StepKind kind)
      : StepOf(device, op, kind),
        numbers_(numbers_of(op.shape)),
        kernel_(device, kPoolingSource,
                kind == StepKind::kForward ? "average_pool" : "average_pool_derivative") {}

 private:
  void forward(const RangeMemory& memory, const StepRanges& r) override {
    kernel_.run(outputs_of(op_.shape), memory.buffer(r.inputs[0]), memory.buffer(r.outputs[0]),
                op_.shape.count_include_pad, numbers_);
  }
  void derivative(const RangeMemory& memory, const StepRanges& r) override {
    kernel_.run(inputs_of(op_.shape), memory.buffer(r.output_derivatives[0]),
                memory.buffer(r.input_derivatives[0]), op_.shape.count_include_pad, numbers_);
  }

  cl_int16 numbers_;
  Kernel kernel_;
};

class GlobalAveragePool final : public StepOf<operation::GlobalAveragePool> {
 public:
  GlobalAveragePool(Device& device, const operation::GlobalAveragePool& op, StepKind kind)
      : StepOf(device, op, kind),
        kernel_(device, kPoolingSource,
                kind == StepKind::kForward ? "global_average_pool"
                                           : "global_average_pool_derivative") {}

 private:
  void forward(const RangeMemory& memory, const StepRanges& r) override {
    kernel_.run(op_.batch * op_.channels, memory.buffer(r.inputs[0]), memory.buffer(r.outputs[0]),
                op_.pixels, op_.channels);
  }
  void derivative(const RangeMemory& memory, const StepRanges& r) override {
    kernel_.run(op_.batch * op_.pixels * op_.channels, memory.buffer(r.output_derivatives[0]),
                memory.buffer(r.input_derivatives[0]), op_.pixels, op_.channels);
  }

  Kernel kernel_;
};

}  // namespace

Step make_step(Device& device, const operation::MaxPool& op, StepKind kind) {
  return std::make_unique<MaxPool>(device, op, kind);
}

Step make_step(Device& device, const operation::AveragePool& op, StepKind kind) {
  return std::make_unique<AveragePool>(device, op, kind);
}

Step make_step(Device& device, const operation::GlobalAveragePool& op, StepKind kind) {
  return std::make_unique<GlobalAveragePool>(device, op, kind);
}

}  // namespace moil::opencl
