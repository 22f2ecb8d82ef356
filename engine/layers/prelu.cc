// x if it is above zero, otherwise weight times x; one weight a channel (the last axis in
// memory), or one for all.
//
// Property: shared (false). Weight: "weight" [C], or [1] if shared.
#include <algorithm>

#include "engine/kernels/rows/elementwise.h"
#include "engine/kernels/rows/pointwise.h"
#include "engine/kernels/rows/row_sums.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

class Prelu final : public Layer {
 public:
  explicit Prelu(bool shared) : shared_(shared) {}

  std::string_view type() const override { return "prelu"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    channels_of(inputs[0]);
    return {inputs[0]};
  }

  std::vector<WeightSpec> weights(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    WeightSpec weight;
    weight.name = "weight";
    weight.dims = Dims{shared_ ? 1 : channels_of(inputs[0])};
    weight.init = Initializer::kQuarter;
    weight.decays = false;
    return {weight};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    columns_ = channels_of(setup.inputs[0]);
    rows_ = rows_of(setup.inputs[0]);
    const std::size_t row = static_cast<std::size_t>(columns_) * sizeof(float);
    LayerPlan plan;
    plan.inputs = {Lifespan::kForward | Lifespan::kComputeGradient | Lifespan::kComputeDerivative};
    plan.outputs = {Lifespan::kNone};
    if (shared_) plan.forward_workspace = plan.derivative_workspace = row;
    plan.gradient_workspace = row_sums_workspace(rows_, columns_, columns_);
    plan.in_place = plan.derivative_in_place = InPlace::kModify;
    return plan;
  }

  void forward(const LayerRun& run) override {
    const float* slopes = slopes_of(run);
    parallel_for(rows_, grain(), [&](std::int64_t begin, std::int64_t end) {
      prelu(run.inputs[0], slopes, run.outputs[0], columns_, begin, end);
    });
  }

  void compute_gradient(const LayerRun& run) override {
    float* sums =
        sum_rows(rows_, columns_, columns_, run.workspace,
                 [&](std::int64_t begin, std::int64_t end, float* to) {
                   prelu_sums(run.inputs[0], run.output_derivatives[0], to, columns_, begin, end);
                 });
    if (shared_)
      for (std::int64_t c = 1; c < columns_; ++c) sums[0] += sums[c];
    store_sums(sums, shared_ ? 1 : columns_, run.adds(0), run.gradients[0]);
  }

  void compute_derivative(const LayerRun& run) override {
    const float* slopes = slopes_of(run);
    parallel_for(rows_, grain(), [&](std::int64_t begin, std::int64_t end) {
      prelu_derivative(run.inputs[0], slopes, run.output_derivatives[0], run.input_derivatives[0],
                       columns_, begin, end);
    });
  }

 private:
  // One a column; the shared one as often.
  const float* slopes_of(const LayerRun& run) const {
    if (!shared_) return run.weights[0];
    auto* spread = reinterpret_cast<float*>(run.workspace);
    std::fill(spread, spread + columns_, run.weights[0][0]);
    return spread;
  }
  std::int64_t grain() const { return std::max<std::int64_t>(1, kElementGrain / columns_); }

  const bool shared_;
  std::int64_t rows_ = 0, columns_ = 0;
};

}  // namespace

std::unique_ptr<Layer> make_prelu(const std::string& name, const Properties& properties) {
  PropertyReader reader(name, properties);
  const bool shared = reader.flag("shared", false);
  reader.done();
  return std::make_unique<Prelu>(shared);
}

}  // namespace moil
