// Two-dimensional convolution: [N, I, H, W] to [N, O, OH, OW], channels-last in memory.
//
// Properties: out_channels, kernel (one or [h, w]), stride (1), padding (0; one, [h, w] or
// [top, left, bottom, right]), dilation (1), groups (1), bias (true), activation ("none", "relu",
// "relu6": fused, for inference only). Weights: "weight" [O, I/g, KH, KW] and "bias" [O].
//
// The arithmetic is the kernel selector's choice, step by step. In inference plans the weights are
// packed once, into a saved tensor. The input lives until CG only if the weight itself trains.
#include "base/error.h"
#include "engine/device/conv/kernel_selector.h"
#include "engine/kernels/rows/column_sum.h"
#include "engine/layers/makers.h"

namespace moil {
namespace {

struct Conv2dProperties {
  std::int64_t out_channels = 1, groups = 1;
  std::vector<std::int64_t> kernel, stride, padding, dilation;  // padding: top, left, bottom, right
  bool bias = true;
  FusedActivation activation = FusedActivation::kNone;
};

// One number, [h, w] or [top, left, bottom, right].
std::vector<std::int64_t> read_padding(PropertyReader& reader, const Properties& properties) {
  const auto it = properties.find("padding");
  const auto* list =
      it == properties.end() ? nullptr : std::get_if<std::vector<std::int64_t>>(&it->second);
  if (list && list->size() == 4) return reader.integers("padding", 4, 0);
  const auto both = reader.integers("padding", 2, 0);
  return {both[0], both[1], both[0], both[1]};
}

Conv2dProperties read(const std::string& name, const Properties& properties) {
  PropertyReader reader(name, properties);
  Conv2dProperties p;
  p.out_channels = reader.integer("out_channels");
  if (!reader.has("kernel")) (void)reader.integer("kernel");  // says that it is missing
  p.kernel = reader.integers("kernel", 2, 1, 1);
  p.stride = reader.integers("stride", 2, 1, 1);
  p.padding = read_padding(reader, properties);
  p.dilation = reader.integers("dilation", 2, 1, 1);
  p.groups = reader.integer("groups", 1, 1);
  p.bias = reader.flag("bias", true);
  p.activation = fused_activation(reader.word("activation", "none"));
  reader.done();
  return p;
}

class Conv2d final : public Layer {
 public:
  Conv2d(std::string name, Conv2dProperties properties)
      : name_(std::move(name)), p_(std::move(properties)) {}

  std::string_view type() const override { return "conv2d"; }
  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override;
  std::vector<WeightSpec> weights(std::span<const TensorInfo> inputs) const override;
  LayerPlan plan(const LayerSetup& setup) override;
  Operation operation() const override {
    return operation::Convolution{shape_, p_.bias, trains_weight_, trains_bias_, p_.activation};
  }
  void weights_changed(const LayerRun& run) override;
  void forward(const LayerRun& run) override;
  void compute_gradient(const LayerRun& run) override;
  void compute_derivative(const LayerRun& run) override;

 private:
  ConvShape shape_of(std::span<const TensorInfo> inputs) const;
  void plan_gradient(const LayerSetup& setup, LayerPlan& plan);

  std::string name_;
  Conv2dProperties p_;
  ConvShape shape_;
  bool packed_ = false, trains_weight_ = false, trains_bias_ = false;
  std::unique_ptr<ConvKernel> forward_, gradient_, derivative_;
};

ConvShape Conv2d::shape_of(std::span<const TensorInfo> inputs) const {
  if (inputs.size() != 1 || inputs[0].dims.rank() != 4 || inputs[0].layout != Layout::kChannelsLast)
    throw Error(ErrorCode::kInvalidArgument,
                "layer \"" + name_ + "\": conv2d takes one image-shaped input [N, C, H, W], not " +
                    (inputs.size() == 1 ? inputs[0].dims.to_string()
                                        : std::to_string(inputs.size()) + " inputs"));
  const Dims& d = inputs[0].dims;
  ConvShape s;
  s.batch = d[0], s.in_channels = d[1], s.in_h = d[2], s.in_w = d[3];
  s.out_channels = p_.out_channels, s.groups = p_.groups;
  s.kernel_h = p_.kernel[0], s.kernel_w = p_.kernel[1];
  s.stride_h = p_.stride[0], s.stride_w = p_.stride[1];
  s.dilation_h = p_.dilation[0], s.dilation_w = p_.dilation[1];
  s.pad_top = p_.padding[0], s.pad_left = p_.padding[1];
  s.pad_bottom = p_.padding[2], s.pad_right = p_.padding[3];
  try {
    check(s);
  } catch (const Error& e) {
    throw Error(e.code(), "layer \"" + name_ + "\": " + e.what());
  }
  return s;
}

std::vector<TensorInfo> Conv2d::infer_outputs(std::span<const TensorInfo> inputs) const {
  const ConvShape s = shape_of(inputs);
  return {{Dims{s.batch, s.out_channels, s.out_h(), s.out_w()}, Layout::kChannelsLast}};
}

std::vector<WeightSpec> Conv2d::weights(std::span<const TensorInfo> inputs) const {
  const ConvShape s = shape_of(inputs);
  WeightSpec weight;
  weight.name = "weight";
  weight.dims = Dims{s.out_channels, s.group_in(), s.kernel_h, s.kernel_w};
  weight.order = s.depthwise() ? WeightOrder::kDepthwise : WeightOrder::kConvolution;
  weight.init = Initializer::kHeNormal;
  weight.fan_in = s.group_in() * s.kernel_area();
  weight.fan_out = s.out_channels * s.kernel_area();
  weight.groups = s.groups;
  std::vector<WeightSpec> specs = {weight};
  if (p_.bias) {
    WeightSpec bias;
    bias.name = "bias";
    bias.dims = Dims{s.out_channels};
    bias.fan_in = weight.fan_in, bias.fan_out = weight.fan_out;
    bias.decays = false;
    specs.push_back(bias);
  }
  return specs;
}

LayerPlan Conv2d::plan(const LayerSetup& setup) {
  shape_ = shape_of(setup.inputs);
  const bool backward = setup.computes_gradient() || setup.computes_derivative();
  if (p_.activation != FusedActivation::kNone && backward)
    throw Error(ErrorCode::kInvalidArgument,
                "layer \"" + name_ + "\": a fused activation is for inference only");
  const bool constant =
      !setup.training && !backward && setup.pack_convolutions && !setup.forward_elsewhere;
  trains_weight_ = setup.train_weight[0];
  trains_bias_ = p_.bias && setup.train_weight[1];
  forward_ = setup.kernels->conv(shape_, ConvStep::kForward, {p_.bias, p_.activation, constant},
                                 setup.workspace_limits.forward);
  LayerPlan plan;
  plan.inputs = {Lifespan::kForward};
  plan.output_derivatives = Lifespan::kNone;
  plan.forward_workspace = forward_->workspace_bytes();
  packed_ = forward_->packed_weight_bytes() > 0;
  if (packed_)
    plan.saved.push_back({"packed_weight", forward_->packed_weight_bytes(), Lifespan::kMax});
  if (packed_) plan.keeps_weight = p_.bias ? std::vector{false, true} : std::vector{false};
  if (setup.computes_gradient()) plan_gradient(setup, plan);
  derivative_.reset();
  if (setup.computes_derivative()) {
    derivative_ =
        setup.kernels->conv(shape_, ConvStep::kDerivative, {}, setup.workspace_limits.derivative);
    plan.derivative_workspace = derivative_->workspace_bytes();
    plan.output_derivatives |= Lifespan::kComputeDerivative;
  }
  return plan;
}

void Conv2d::plan_gradient(const LayerSetup& setup, LayerPlan& plan) {
  gradient_.reset();
  plan.output_derivatives |= Lifespan::kComputeGradient;
  if (!trains_weight_) {  // the bias alone: sums of the output derivative
    plan.gradient_workspace = column_sum_workspace(shape_.out_pixels(), shape_.out_channels);
    return;
  }
  gradient_ = setup.kernels->conv(shape_, ConvStep::kGradient,
                                  {trains_bias_, FusedActivation::kNone, false},
                                  setup.workspace_limits.gradient);
  plan.gradient_workspace = gradient_->workspace_bytes();
  plan.inputs[0] |= Lifespan::kComputeGradient;
}

void Conv2d::weights_changed(const LayerRun& run) {
  if (packed_) forward_->pack(run.weights[0], run.saved[0]);
}

void Conv2d::forward(const LayerRun& run) {
  ConvArgs args;
  args.input = run.inputs[0];
  args.weights = run.weights[0];
  args.packed = packed_ ? run.saved[0] : nullptr;
  args.bias = p_.bias ? run.weights[1] : nullptr;
  args.output = run.outputs[0];
  args.workspace = run.workspace;
  forward_->run(args);
}

void Conv2d::compute_gradient(const LayerRun& run) {
  float* bias = p_.bias ? run.gradients[1] : nullptr;
  if (!gradient_) {
    column_sum(shape_.out_pixels(), shape_.out_channels, run.output_derivatives[0], bias,
               run.adds(1), run.workspace);
    return;
  }
  ConvArgs args;
  args.input = run.inputs[0];
  args.output_derivative = run.output_derivatives[0];
  args.weight_gradient = run.gradients[0];
  args.bias_gradient = bias;
  // One flag for both: what starts anew starts from zeros.
  args.accumulate = run.adds(0) || (bias && run.adds(1));
  if (args.accumulate && !run.adds(0))
    std::fill_n(args.weight_gradient, shape_.weight_elements(), 0.0F);
  if (args.accumulate && bias && !run.adds(1)) std::fill_n(bias, shape_.out_channels, 0.0F);
  args.workspace = run.workspace;
  gradient_->run(args);
}

void Conv2d::compute_derivative(const LayerRun& run) {
  ConvArgs args;
  args.weights = run.weights[0];
  args.output_derivative = run.output_derivatives[0];
  args.input_derivative = run.input_derivatives[0];
  args.workspace = run.workspace;
  derivative_->run(args);
}

}  // namespace

std::unique_ptr<Layer> make_conv2d(const std::string& name, const Properties& properties) {
  return std::make_unique<Conv2d>(name, read(name, properties));
}

}  // namespace moil
