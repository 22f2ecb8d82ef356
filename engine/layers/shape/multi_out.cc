// One input, several outputs of the same data, type "multi_out": what lets a value be read by more
// than one layer (NNTrainer 2022, Table 1). The derivatives of the outputs are summed.
//
// Property: outputs, required.
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

class MultiOut final : public Layer {
 public:
  explicit MultiOut(std::size_t outputs) : outputs_(outputs) {}

  std::string_view type() const override { return "multi_out"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    return std::vector<TensorInfo>(outputs_, inputs[0]);
  }

  LayerPlan plan(const LayerSetup& setup) override {
    elements_ = setup.inputs[0].dims.elements();
    LayerPlan plan;
    plan.inputs = {Lifespan::kForward};
    plan.outputs.assign(outputs_, Lifespan::kNone);
    plan.output_derivatives = Lifespan::kComputeDerivative;
    plan.in_place = InPlace::kSameData;
    plan.derivative_in_place = InPlace::kModify;
    return plan;
  }

  Operation operation() const override { return operation::FanOut{elements_}; }

  void forward(const LayerRun& run) override {
    parallel_for(elements_, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      for (float* out : run.outputs) {
        if (out) copy(run.inputs[0], out, begin, end);
      }
    });
  }

  // The sum may lie over the first output's derivative, and derivatives over one another.
  void compute_derivative(const LayerRun& run) override {
    parallel_for(elements_, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      add_all(run.output_derivatives, run.input_derivatives[0], begin, end);
    });
  }

 private:
  const std::size_t outputs_;
  std::int64_t elements_ = 0;
};

}  // namespace

std::unique_ptr<Layer> make_multi_out(const std::string& name, const Properties& properties) {
  PropertyReader reader(name, properties);
  const std::int64_t outputs = reader.integer("outputs");
  reader.done();
  return std::make_unique<MultiOut>(static_cast<std::size_t>(outputs));
}

}  // namespace moil
