// The input, type "identity". The same data. No properties.
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

class IdentityLayer final : public Layer {
 public:
  std::string_view type() const override { return "identity"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    return {inputs[0]};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    elements_ = setup.inputs[0].dims.elements();
    LayerPlan plan;
    plan.inputs = {Lifespan::kForward};
    plan.outputs = {Lifespan::kNone};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    plan.in_place = plan.derivative_in_place = InPlace::kSameData;
    return plan;
  }

  void forward(const LayerRun& run) override { pass(run.inputs[0], run.outputs[0]); }

  void compute_derivative(const LayerRun& run) override {
    pass(run.output_derivatives[0], run.input_derivatives[0]);
  }

 private:
  void pass(const float* in, float* out) const {
    parallel_for(elements_, kElementGrain,
                 [&](std::int64_t begin, std::int64_t end) { copy(in, out, begin, end); });
  }

  std::int64_t elements_ = 0;
};

}  // namespace

std::unique_ptr<Layer> make_identity(const std::string& name, const Properties& properties) {
  PropertyReader(name, properties).done();
  return std::make_unique<IdentityLayer>();
}

}  // namespace moil
