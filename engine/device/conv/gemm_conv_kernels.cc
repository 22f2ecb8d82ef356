#include "engine/device/conv/gemm_conv_kernels.h"

#include "base/error.h"
#include "engine/kernels/convolution/convolution.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/column_sum.h"

namespace moil {
namespace {

class TapKernel final : public ConvKernel {
 public:
  TapKernel(std::string name, const ConvShape& shape, TapConvolution::Direction direction,
            const ConvFusion& fusion, const MatrixProduct& product)
      : name_(std::move(name)),
        convolution_(shape, direction, product),
        fusion_(fusion),
        forward_(direction == TapConvolution::Direction::kForward),
        as_is_(forward_ && product.plain && shape.groups == 1) {}

  std::string_view name() const override { return name_; }
  std::size_t workspace_bytes() const override {
    return convolution_.workspace_bytes() + (packs_in_run() ? convolution_.packed_bytes() : 0);
  }
  std::size_t packed_weight_bytes() const override {
    return fusion_.constant_weights && !as_is_ ? convolution_.packed_bytes() : 0;
  }
  void pack(const float* weights, std::byte* packed) const override {
    convolution_.pack(weights, packed);
  }
  void run(const ConvArgs& args) const override {
    require_threads(threads_);
    const std::byte* packed = args.packed;
    std::byte* workspace = args.workspace;
    if (as_is_) {
      packed = reinterpret_cast<const std::byte*>(args.weights);
    } else if (packs_in_run()) {
      convolution_.pack(args.weights, workspace);
      packed = workspace;
      workspace += convolution_.packed_bytes();
    }
    if (forward_)
      convolution_.run(args.input, packed, args.output,
                       {fusion_.bias ? args.bias : nullptr, fusion_.activation}, workspace);
    else
      convolution_.run(args.output_derivative, packed, args.input_derivative, {}, workspace);
  }

 private:
  bool packs_in_run() const { return !fusion_.constant_weights && !as_is_; }

  std::string name_;
  TapConvolution convolution_;
  ConvFusion fusion_;
  bool forward_;
  bool as_is_;  // the weights are the product's second factor as they lie
  int threads_ = thread_count();
};

class GradientKernel final : public ConvKernel {
 public:
  GradientKernel(std::string name, const ConvShape& shape, const MatrixProduct& product)
      : name_(std::move(name)),
        gradient_(shape, product),
        pixels_(shape.out_pixels()),
        channels_(shape.out_channels) {}

  std::string_view name() const override { return name_; }
  std::size_t workspace_bytes() const override {
    return std::max(gradient_.workspace_bytes(), column_sum_workspace(pixels_, channels_));
  }
  void run(const ConvArgs& args) const override {
    require_threads(threads_);
    if (args.weight_gradient)
      gradient_.run(args.input, args.output_derivative, args.weight_gradient, args.accumulate,
                    args.workspace);
    if (args.bias_gradient)
      column_sum(pixels_, channels_, args.output_derivative, args.bias_gradient, args.accumulate,
                 args.workspace);
  }

 private:
  std::string name_;
  ConvolutionGradient gradient_;
  std::int64_t pixels_, channels_;
  int threads_ = thread_count();
};

}  // namespace

std::unique_ptr<ConvKernel> make_gemm_conv_kernel(const std::string& name, const ConvShape& shape,
                                                  ConvStep step, const ConvFusion& fusion,
                                                  const MatrixProduct& product) {
  using Direction = TapConvolution::Direction;
  switch (step) {
    case ConvStep::kForward:
      return std::make_unique<TapKernel>(name, shape, Direction::kForward, fusion, product);
    case ConvStep::kDerivative:
      return std::make_unique<TapKernel>(name, shape, Direction::kDerivative, ConvFusion{},
                                         product);
    case ConvStep::kGradient:
      return std::make_unique<GradientKernel>(name, shape, product);
  }
  throw Error(ErrorCode::kInternal, "no such step of a convolution");
}

void require_threads(int planned) {
  if (thread_count() != planned)
    throw Error(ErrorCode::kFailedPrecondition,
                "a kernel planned for " + std::to_string(planned) + " threads is run with " +
                    std::to_string(thread_count()) + "; set the thread count before planning");
}

}  // namespace moil
