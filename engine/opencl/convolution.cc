#include <algorithm>
#include <string>

#include "engine/opencl/bias.h"
#include "engine/opencl/column_sum.h"
#include "engine/opencl/gemm.h"
#include "engine/opencl/numbers.h"
#include "engine/opencl/step.h"

namespace moil::opencl {
namespace {

// One work item an element of what is written. A patch is what an output sees of one group's
// channels, [kernel_h, kernel_w, channels of the group], as weights lie.
const std::string kConvolutionSource = std::string(kConvShape) + R"CL(
// Samples from `first` on; channels from `channel` on.
kernel void to_patches(global const float* in, global float* patches, int at, int first,
                       int channel, int16 numbers, int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  const Shape s = shape_of(numbers);
  const int c = i % s.of_group, kx = i / s.of_group % s.kernel_w;
  const int ky = i / s.of_group / s.kernel_w % s.kernel_h;
  const int pixel = i / (s.of_group * s.kernel_w * s.kernel_h);
  const int x = pixel % s.out_w, y = pixel / s.out_w % s.out_h;
  const int n = first + pixel / s.out_w / s.out_h;
  const int iy = y * s.stride_h - s.top + ky * s.gap_h;
  const int ix = x * s.stride_w - s.left + kx * s.gap_w;
  const bool inside = iy >= 0 && iy < s.in_h && ix >= 0 && ix < s.in_w;
  patches[at + i] =
      inside ? in[((n * s.in_h + iy) * s.in_w + ix) * s.channels + channel + c] : 0.0f;
}

kernel void from_patches(global const float* patches, global float* dx, int at, int first,
                         int channel, int16 numbers, int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  const Shape s = shape_of(numbers);
  const int c = i % s.of_group, x = i / s.of_group % s.in_w;
  const int row = i / s.of_group / s.in_w, n = row / s.in_h, y = row % s.in_h;
  float total = 0;
  for (int ky = 0; ky < s.kernel_h; ++ky) {
    const int oy = y + s.top - ky * s.gap_h;
    if (oy < 0 || oy % s.stride_h != 0 || oy / s.stride_h >= s.out_h) continue;
    for (int kx = 0; kx < s.kernel_w; ++kx) {
      const int ox = x + s.left - kx * s.gap_w;
      if (ox < 0 || ox % s.stride_w != 0 || ox / s.stride_w >= s.out_w) continue;
      const int pixel = (n * s.out_h + oy / s.stride_h) * s.out_w + ox / s.stride_w;
      total += patches[at + ((pixel * s.kernel_h + ky) * s.kernel_w + kx) * s.of_group + c];
    }
  }
  dx[(((first + n) * s.in_h + y) * s.in_w + x) * s.channels + channel + c] = total;
}
)CL";

// Patches are made for so many samples at a time that they stay below this.
constexpr std::int64_t kMostPatchBytes = 32 << 20;

// A product of matrices a group and a slice of the batch. In the workspace CLBlast's scratch comes
// first, for it begins where a buffer does, and the patches behind it.
class Convolution final : public StepOf<operation::Convolution> {
 public:
  Convolution(Device& device, const operation::Convolution& op, StepKind kind)
      : StepOf(device, op, kind),
        numbers_(numbers_of(op.shape)),
        to_patches_(device, kConvolutionSource.c_str(), "to_patches"),
        from_patches_(device, kConvolutionSource.c_str(), "from_patches"),
        epilogue_(device),
        bias_sum_(device) {
    if (kind != StepKind::kComputeGradient || op.trains_weight) product_bytes_ = product_bytes();
  }

  std::size_t workspace_bytes() const override {
    const bool has_product = kind_ != StepKind::kComputeGradient || op_.trains_weight;
    std::size_t bytes = has_product ? product_bytes_ + patch_bytes() : 0;
    if (kind_ == StepKind::kComputeGradient && op_.trains_bias)
      bytes = std::max(bytes, ColumnSum::workspace_bytes(s().out_pixels(), s().out_channels));
    return bytes;
  }

 private:
  struct Slice {
    std::int64_t first = 0, samples = 0;  // of the batch
    std::int64_t group = 0;
  };

  const ConvShape& s() const { return op_.shape; }
  std::int64_t patch() const { return s().kernel_area() * s().group_in(); }
  std::int64_t pixels() const { return s().out_h() * s().out_w(); }  // of a sample's output
  std::int64_t slice_samples() const {
    if (s().pointwise()) return s().batch;
    const std::int64_t bytes = pixels() * patch() * static_cast<std::int64_t>(sizeof(float));
    return std::clamp<std::int64_t>(kMostPatchBytes / bytes, 1, s().batch);
  }
  std::size_t patch_bytes() const {
    if (s().pointwise()) return 0;
    return static_cast<std::size_t>(slice_samples() * pixels() * patch()) * sizeof(float);
  }
  std::int64_t patches_at() const {
    return static_cast<std::int64_t>(product_bytes_ / sizeof(float));
  }

  // A pointwise convolution's patches are the image itself.
  Matrix patches(cl_mem image, cl_mem workspace, bool transposed) const {
    if (s().pointwise()) return {image, 0, patch(), transposed};
    return {workspace, patches_at(), patch(), transposed};
  }
  Matrix weights(cl_mem buffer, const Slice& slice, bool transposed) const {
    return {buffer, slice.group * patch() * s().group_out(), s().group_out(), transposed};
  }
  Matrix outputs(cl_mem buffer, const Slice& slice) const {
    return {buffer, slice.first * pixels() * s().out_channels + slice.group * s().group_out(),
            s().out_channels, false};
  }

  std::size_t product_bytes() const;
  template <class F>
  void each_slice(const F& f) const {
    const std::int64_t most = slice_samples();
    for (std::int64_t group = 0; group < s().groups; ++group)
      for (std::int64_t first = 0; first < s().batch; first += most)
        f(Slice{first, std::min(most, s().batch - first), group});
  }
  void make_patches(cl_mem image, cl_mem workspace, const Slice& slice) {
    if (s().pointwise()) return;
    to_patches_.run(slice.samples * pixels() * patch(), image, workspace, patches_at(), slice.first,
                    slice.group * s().group_in(), numbers_);
  }

  void forward(const RangeMemory& memory, const StepRanges& r) override;
  void gradient(const RangeMemory& memory, const StepRanges& r, bool accumulate) override;
  void derivative(const RangeMemory& memory, const StepRanges& r) override;

  cl_int16 numbers_;
  Kernel to_patches_, from_patches_;
  BiasAndActivation epilogue_;
  ColumnSum bias_sum_;
  std::size_t product_bytes_ = 0;
};

// The most that a slice needs: CLBlast needs more if a matrix does not begin with its buffer.
std::size_t Convolution::product_bytes() const {
  std::size_t bytes = 0;
  const std::int64_t most = slice_samples(), rest = s().batch % most;
  for (const std::int64_t samples : {most, rest == 0 ? most : rest}) {
    const std::int64_t rows = samples * pixels(), out = s().group_out();
    const Matrix p{nullptr, 1, patch(), false}, pt{nullptr, 1, patch(), true};
    const Matrix w{nullptr, 1, out, false}, wt{nullptr, 1, out, true};
    const Matrix y{nullptr, 1, s().out_channels, false};
    const std::size_t needed = kind_ == StepKind::kForward
                                   ? gemm_workspace_bytes(device_, rows, out, patch(), p, w, y)
                               : kind_ == StepKind::kComputeGradient
                                   ? gemm_workspace_bytes(device_, patch(), out, rows, pt, y, w)
                                   : gemm_workspace_bytes(device_, rows, patch(), out, y, wt, p);
    bytes = std::max(bytes, needed);
  }
  return (bytes + sizeof(float) - 1) / sizeof(float) * sizeof(float);
}

void Convolution::forward(const RangeMemory& memory, const StepRanges& r) {
  const cl_mem image = memory.buffer(r.inputs[0]), out = memory.buffer(r.outputs[0]);
  const cl_mem workspace = memory.buffer(r.workspace);
  each_slice([&](const Slice& slice) {
    make_patches(image, workspace, slice);
    gemm(device_, slice.samples * pixels(), s().group_out(), patch(),
         patches(image, workspace, false), weights(memory.buffer(r.weights[0]), slice, false),
         outputs(out, slice), false, workspace);
  });
  epilogue_.run(s().out_pixels(), s().out_channels, out,
                op_.bias ? memory.buffer(r.weights[1]) : nullptr, op_.activation);
}

void Convolution::gradient(const RangeMemory& memory, const StepRanges& r, bool accumulate) {
  const cl_mem dy = memory.buffer(r.output_derivatives[0]);
  const cl_mem workspace = memory.buffer(r.workspace);
  if (op_.trains_weight) {
    const cl_mem image = memory.buffer(r.inputs[0]);
    each_slice([&](const Slice& slice) {
      make_patches(image, workspace, slice);
      gemm(device_, patch(), s().group_out(), slice.samples * pixels(),
           patches(image, workspace, true), outputs(dy, slice),
           weights(memory.buffer(r.gradients[0]), slice, false), accumulate || slice.first > 0,
           workspace);
    });
  }
  if (op_.trains_bias)
    bias_sum_.run(s().out_pixels(), s().out_channels, dy, memory.buffer(r.gradients[1]), accumulate,
                  workspace);
}

void Convolution::derivative(const RangeMemory& memory, const StepRanges& r) {
  const cl_mem dx = memory.buffer(r.input_derivatives[0]);
  const cl_mem workspace = memory.buffer(r.workspace);
  each_slice([&](const Slice& slice) {
    gemm(device_, slice.samples * pixels(), patch(), s().group_out(),
         outputs(memory.buffer(r.output_derivatives[0]), slice),
         weights(memory.buffer(r.weights[0]), slice, true), patches(dx, workspace, false), false,
         workspace);
    if (s().pointwise()) return;
    from_patches_.run(slice.samples * s().in_h * s().in_w * s().group_in(), workspace, dx,
                      patches_at(), slice.first, slice.group * s().group_in(), numbers_);
  });
}

}  // namespace

Step make_step(Device& device, const operation::Convolution& op, StepKind kind) {
  if (op.shape.depthwise()) return make_depthwise_step(device, op, kind);
  return std::make_unique<Convolution>(device, op, kind);
}

}  // namespace moil::opencl
