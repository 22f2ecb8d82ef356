// Sum of two or more tensors of the same dims, type "add". In place over input 0; the derivative
// passes through to every input. No properties.
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

class Add final : public Layer {
 public:
  std::string_view type() const override { return "add"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_at_least(inputs, 2);
    require_same_dims(inputs);
    return {inputs[0]};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    elements_ = setup.inputs[0].dims.elements();
    LayerPlan plan;
    plan.inputs.assign(setup.inputs.size(), Lifespan::kForward);
    plan.outputs = {Lifespan::kNone};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    plan.in_place = InPlace::kModify;
    plan.derivative_in_place = InPlace::kSameData;
    return plan;
  }

  Operation operation() const override { return operation::Addition{elements_}; }

  void forward(const LayerRun& run) override {
    parallel_for(elements_, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      add_all(run.inputs, run.outputs[0], begin, end);
    });
  }

  void compute_derivative(const LayerRun& run) override {
    parallel_for(elements_, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      for (float* dx : run.input_derivatives) {
        if (dx) copy(run.output_derivatives[0], dx, begin, end);
      }
    });
  }

 private:
  std::int64_t elements_ = 0;
};

}  // namespace

std::unique_ptr<Layer> make_add(const std::string& name, const Properties& properties) {
  PropertyReader(name, properties).done();
  return std::make_unique<Add>();
}

}  // namespace moil
