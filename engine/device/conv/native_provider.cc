#include "engine/device/conv/cpu_providers.h"
#include "engine/device/conv/gemm_conv_kernels.h"
#include "engine/kernels/convolution/depthwise.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/column_sum.h"

namespace moil {
namespace {

constexpr const char *kDepthwise = "native/depthwise", *kGemm = "native/gemm";

class DepthwiseKernel final : public ConvKernel {
 public:
  DepthwiseKernel(const ConvShape& shape, ConvStep step, const ConvFusion& fusion)
      : shape_(shape), step_(step), fusion_(fusion) {}

  std::string_view name() const override { return kDepthwise; }
  std::size_t workspace_bytes() const override {
    if (step_ != ConvStep::kGradient) return 0;
    return std::max(depthwise_gradient_workspace(shape_),
                    column_sum_workspace(shape_.out_pixels(), shape_.out_channels));
  }
  void run(const ConvArgs& args) const override {
    require_threads(threads_);
    switch (step_) {
      case ConvStep::kForward:
        return depthwise_forward(shape_, args.input, args.weights,
                                 {fusion_.bias ? args.bias : nullptr, fusion_.activation},
                                 args.output);
      case ConvStep::kDerivative:
        return depthwise_derivative(shape_, args.output_derivative, args.weights,
                                    args.input_derivative);
      case ConvStep::kGradient:
        return run_gradient(args);
    }
  }

 private:
  void run_gradient(const ConvArgs& args) const {
    if (args.weight_gradient)
      depthwise_gradient(shape_, args.input, args.output_derivative, args.weight_gradient,
                         args.accumulate, args.workspace);
    if (args.bias_gradient)
      column_sum(shape_.out_pixels(), shape_.out_channels, args.output_derivative,
                 args.bias_gradient, args.accumulate, args.workspace);
  }

  ConvShape shape_;
  ConvStep step_;
  ConvFusion fusion_;
  int threads_ = thread_count();
};

class NativeProvider final : public KernelProvider {
 public:
  std::string_view name() const override { return "native"; }
  std::vector<std::unique_ptr<ConvKernel>> candidates(
      const ConvShape& shape, ConvStep step, const ConvFusion& fusion, bool,
      std::optional<std::string_view> only) const override {
    std::vector<std::unique_ptr<ConvKernel>> list;
    if (only && *only != (shape.depthwise() ? kDepthwise : kGemm)) return list;
    if (shape.depthwise())
      list.push_back(std::make_unique<DepthwiseKernel>(shape, step, fusion));
    else
      list.push_back(make_gemm_conv_kernel(kGemm, shape, step, fusion, kPackedProduct));
    return list;
  }
};

}  // namespace

const KernelProvider& native_provider() {
  static const NativeProvider provider;
  return provider;
}

}  // namespace moil
