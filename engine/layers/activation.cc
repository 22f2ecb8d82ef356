// Element-wise activations: relu, relu6, leaky_relu, sigmoid, tanh, hard_sigmoid, hard_swish, silu,
// gelu (exact), elu, softplus, mish, gelu_tanh, each a layer type of its own.
//
// All may work in place. The derivatives of hard_swish, silu, both GELUs and mish read the input,
// the others the output, so those work in place only if no derivative is asked for. Properties, at
// least 0: slope = 0.01 of leaky_relu, alpha = 1 of elu. The others have none.
#include "base/error.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

class ActivationLayer final : public Layer {
 public:
  ActivationLayer(ActivationKind kind, float slope) : kind_(kind), slope_(slope) {}

  std::string_view type() const override { return to_string(kind_); }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    return {inputs[0]};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    elements_ = setup.inputs[0].dims.elements();
    LayerPlan plan;
    const bool output = derivative_from_output(kind_);
    plan.inputs = {output ? Lifespan::kForward : Lifespan::kForward | Lifespan::kComputeDerivative};
    plan.outputs = {output ? Lifespan::kComputeDerivative : Lifespan::kNone};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    plan.in_place = plan.derivative_in_place = InPlace::kModify;
    return plan;
  }

  Operation operation() const override { return operation::Activation{kind_, slope_, elements_}; }

  void forward(const LayerRun& run) override {
    parallel_for(elements_, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      activate(kind_, slope_, run.inputs[0], run.outputs[0], begin, end);
    });
  }

  void compute_derivative(const LayerRun& run) override {
    const float* saved = derivative_from_output(kind_) ? run.outputs[0] : run.inputs[0];
    parallel_for(elements_, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      activation_derivative(kind_, slope_, saved, run.output_derivatives[0],
                            run.input_derivatives[0], begin, end);
    });
  }

 private:
  const ActivationKind kind_;
  const float slope_;
  std::int64_t elements_ = 0;
};

}  // namespace

std::unique_ptr<Layer> make_activation(ActivationKind kind, const std::string& name,
                                       const Properties& properties) {
  PropertyReader reader(name, properties);
  const bool elu = kind == ActivationKind::kElu;
  double slope = 0;
  if (kind == ActivationKind::kLeakyRelu) slope = reader.number("slope", 0.01);
  if (elu) slope = reader.number("alpha", 1);
  reader.done();
  if (!(slope >= 0)) {
    throw Error(ErrorCode::kInvalidArgument, "layer \"" + name + "\": property \"" +
                                                 (elu ? "alpha" : "slope") +
                                                 "\" must be at least 0");
  }
  return std::make_unique<ActivationLayer>(kind, static_cast<float>(slope));
}

}  // namespace moil
