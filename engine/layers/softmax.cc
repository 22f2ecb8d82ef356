// Softmax over features or channels (the last axis in memory), type "softmax", and its logarithm,
// type "log_softmax". In place; the derivative reads the output. No properties.
#include "engine/kernels/rows/softmax.h"

#include <algorithm>

#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

class Softmax final : public Layer {
 public:
  explicit Softmax(bool logarithm) : logarithm_(logarithm) {}

  std::string_view type() const override { return logarithm_ ? "log_softmax" : "softmax"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    channels_of(inputs[0]);
    return {inputs[0]};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    columns_ = channels_of(setup.inputs[0]);
    rows_ = rows_of(setup.inputs[0]);
    LayerPlan plan;
    plan.inputs = {Lifespan::kForward};
    plan.outputs = {Lifespan::kComputeDerivative};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    plan.in_place = plan.derivative_in_place = InPlace::kModify;
    return plan;
  }

  Operation operation() const override { return operation::Softmax{rows_, columns_, logarithm_}; }

  void forward(const LayerRun& run) override {
    parallel_for(rows_, grain(), [&](std::int64_t begin, std::int64_t end) {
      const auto compute = logarithm_ ? log_softmax : softmax;
      compute(run.inputs[0], run.outputs[0], columns_, begin, end);
    });
  }

  void compute_derivative(const LayerRun& run) override {
    parallel_for(rows_, grain(), [&](std::int64_t begin, std::int64_t end) {
      const auto compute = logarithm_ ? log_softmax_derivative : softmax_derivative;
      compute(run.outputs[0], run.output_derivatives[0], run.input_derivatives[0], columns_, begin,
              end);
    });
  }

 private:
  std::int64_t grain() const { return std::max<std::int64_t>(1, kElementGrain / 4 / columns_); }

  const bool logarithm_;
  std::int64_t rows_ = 0, columns_ = 0;
};

}  // namespace

std::unique_ptr<Layer> make_softmax(const std::string& name, const Properties& properties) {
  PropertyReader(name, properties).done();
  return std::make_unique<Softmax>(false);
}

std::unique_ptr<Layer> make_log_softmax(const std::string& name, const Properties& properties) {
  PropertyReader(name, properties).done();
  return std::make_unique<Softmax>(true);
}

}  // namespace moil
