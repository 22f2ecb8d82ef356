// The larger or smaller of two tensors of the same dims, element by element: types "maximum" and
// "minimum". As in PyTorch a NaN in either is the result, and equal numbers get half of the
// derivative each. In place over input 0 if nothing is derived. No properties.
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

class Extreme final : public Layer {
 public:
  explicit Extreme(bool larger) : larger_(larger) {}
  std::string_view type() const override { return larger_ ? "maximum" : "minimum"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 2);
    require_same_dims(inputs);
    return {inputs[0]};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    elements_ = setup.inputs[0].dims.elements();
    LayerPlan plan;
    plan.inputs.assign(2, Lifespan::kForward | Lifespan::kComputeDerivative);
    plan.outputs = {Lifespan::kNone};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    plan.in_place = plan.derivative_in_place = InPlace::kModify;
    return plan;
  }

  void forward(const LayerRun& run) override {
    parallel_for(elements_, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      (larger_ ? larger : smaller)(run.inputs[0], run.inputs[1], run.outputs[0], begin, end);
    });
  }

  // Input 0's derivative last: it may lie over the output's.
  void compute_derivative(const LayerRun& run) override {
    parallel_for(elements_, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      for (const std::size_t i : {1U, 0U})
        if (float* dx = run.input_derivatives[i])
          (larger_ ? larger_derivative : smaller_derivative)(
              run.inputs[i], run.inputs[1 - i], run.output_derivatives[0], dx, begin, end);
    });
  }

 private:
  const bool larger_;
  std::int64_t elements_ = 0;
};

}  // namespace

std::unique_ptr<Layer> make_maximum(const std::string& name, const Properties& properties) {
  PropertyReader(name, properties).done();
  return std::make_unique<Extreme>(true);
}

std::unique_ptr<Layer> make_minimum(const std::string& name, const Properties& properties) {
  PropertyReader(name, properties).done();
  return std::make_unique<Extreme>(false);
}

}  // namespace moil
