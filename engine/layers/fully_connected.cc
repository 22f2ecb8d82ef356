// Fully connected: y = x W^T + b. [N, F] to [N, units], or over the last axis: [N, ..., F] to
// [N, ..., units].
//
// Properties: units, bias (true), activation ("none", "relu", "relu6": fused, for inference only).
// Weights: "weight" [units, F] and "bias" [units]. In inference plans the weights are packed once,
// into a saved tensor, and a sample's result does not depend on its batch. The input lives until CG
// only if the weight itself trains.
#include "base/error.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/gemm/linear.h"
#include "engine/kernels/rows/column_sum.h"
#include "engine/layers/makers.h"

namespace moil {
namespace {

struct FullyConnectedProperties {
  std::int64_t units = 1;
  bool bias = true;
  FusedActivation activation = FusedActivation::kNone;
};

class FullyConnected final : public Layer {
 public:
  FullyConnected(std::string name, FullyConnectedProperties properties)
      : name_(std::move(name)), p_(properties) {}

  std::string_view type() const override { return "fully_connected"; }
  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override;
  std::vector<WeightSpec> weights(std::span<const TensorInfo> inputs) const override;
  LayerPlan plan(const LayerSetup& setup) override;
  Operation operation() const override {
    return operation::FullyConnected{rows_,          features_,    p_.units,     p_.bias,
                                     trains_weight_, trains_bias_, p_.activation};
  }
  void weights_changed(const LayerRun& run) override;
  void forward(const LayerRun& run) override;
  void compute_gradient(const LayerRun& run) override;
  void compute_derivative(const LayerRun& run) override;

 private:
  const Dims& input_dims(std::span<const TensorInfo> inputs) const;
  LinearShape shape() const { return {rows_, features_, p_.units}; }

  std::string name_;
  FullyConnectedProperties p_;
  std::int64_t rows_ = 1, features_ = 1;
  bool packed_ = false, trains_weight_ = false, trains_bias_ = false;
};

const Dims& FullyConnected::input_dims(std::span<const TensorInfo> inputs) const {
  if (inputs.size() != 1 || inputs[0].dims.rank() < 2 || inputs[0].layout != Layout::kPlain)
    throw Error(ErrorCode::kInvalidArgument,
                "layer \"" + name_ +
                    "\": fully_connected takes one input [N, F] or [N, ..., F], not " +
                    (inputs.size() == 1 ? inputs[0].dims.to_string() + "; flatten it first"
                                        : std::to_string(inputs.size()) + " inputs"));
  return inputs[0].dims;
}

std::vector<TensorInfo> FullyConnected::infer_outputs(std::span<const TensorInfo> inputs) const {
  const Dims& d = input_dims(inputs);
  std::vector<std::int64_t> dims(d.values().begin(), d.values().end());
  dims.back() = p_.units;
  return {{Dims(dims)}};
}

std::vector<WeightSpec> FullyConnected::weights(std::span<const TensorInfo> inputs) const {
  const std::int64_t features = input_dims(inputs).back();
  WeightSpec weight;
  weight.name = "weight";
  weight.dims = Dims{p_.units, features};
  weight.init = Initializer::kXavierUniform;
  weight.fan_in = features, weight.fan_out = p_.units;
  std::vector<WeightSpec> specs = {weight};
  if (p_.bias) {
    WeightSpec bias;
    bias.name = "bias";
    bias.dims = Dims{p_.units};
    bias.fan_in = features, bias.fan_out = p_.units;
    bias.decays = false;
    specs.push_back(bias);
  }
  return specs;
}

LayerPlan FullyConnected::plan(const LayerSetup& setup) {
  const Dims& d = input_dims(setup.inputs);
  features_ = d.back();
  rows_ = d.elements() / features_;
  const bool backward = setup.computes_gradient() || setup.computes_derivative();
  if (p_.activation != FusedActivation::kNone && backward)
    throw Error(ErrorCode::kInvalidArgument,
                "layer \"" + name_ + "\": a fused activation is for inference only");
  packed_ = !setup.training && !backward && !setup.forward_elsewhere;
  trains_weight_ = setup.train_weight[0];
  trains_bias_ = p_.bias && setup.train_weight[1];
  LayerPlan plan;
  plan.inputs = {Lifespan::kForward};
  plan.output_derivatives = Lifespan::kNone;
  if (packed_)
    plan.saved.push_back({"packed_weight", packed_b_bytes(features_, p_.units), Lifespan::kMax});
  // A network that packs nothing ahead lends its weights: they are asked for again.
  if (packed_ && setup.pack_convolutions)
    plan.keeps_weight = p_.bias ? std::vector{false, true} : std::vector{false};
  if (setup.computes_gradient()) {
    plan.output_derivatives |= Lifespan::kComputeGradient;
    if (trains_weight_) plan.inputs[0] |= Lifespan::kComputeGradient;
    if (trains_bias_) plan.gradient_workspace = column_sum_workspace(rows_, p_.units);
  }
  if (setup.computes_derivative()) plan.output_derivatives |= Lifespan::kComputeDerivative;
  return plan;
}

void FullyConnected::weights_changed(const LayerRun& run) {
  if (packed_)
    pack_b(Transpose::kYes, features_, p_.units, run.weights[0], features_, run.saved[0]);
}

void FullyConnected::forward(const LayerRun& run) {
  const float* bias = p_.bias ? run.weights[1] : nullptr;
  float* y = run.outputs[0];
  if (packed_) {
    packed_gemm(rows_, p_.units, features_, run.inputs[0], features_, run.saved[0], y, p_.units,
                {bias, p_.activation});
    return;
  }
  linear(shape(), run.inputs[0], features_, run.weights[0], bias, y);
}

void FullyConnected::compute_gradient(const LayerRun& run) {
  const float* dy = run.output_derivatives[0];
  if (run.gradients[0]) linear_gradient(shape(), run.inputs[0], dy, run.adds(0), run.gradients[0]);
  if (p_.bias && run.gradients[1])
    column_sum(rows_, p_.units, dy, run.gradients[1], run.adds(1), run.workspace);
}

void FullyConnected::compute_derivative(const LayerRun& run) {
  linear_derivative(shape(), run.output_derivatives[0], run.weights[0], run.input_derivatives[0]);
}

}  // namespace

std::unique_ptr<Layer> make_fully_connected(const std::string& name, const Properties& properties) {
  PropertyReader reader(name, properties);
  FullyConnectedProperties p;
  p.units = reader.integer("units");
  p.bias = reader.flag("bias", true);
  p.activation = fused_activation(reader.word("activation", "none"));
  reader.done();
  return std::make_unique<FullyConnected>(name, p);
}

}  // namespace moil
