// Normalisation over the last axis: y = (x - mean) / sqrt(variance + epsilon) * gamma + beta.
//
// Properties: epsilon (1e-5), affine (true). Weights, if affine: "gamma" and "beta" [F]. Any
// rank from 2 on, plain layout. The mean and the inverse deviation of every row are kept from F on.
#include "engine/kernels/rows/layer_norm.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/kernels/rows/row_sums.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

enum NormWeight : std::size_t { kScale, kShift };

class LayerNorm final : public Layer {
 public:
  LayerNorm(float epsilon, bool affine) : epsilon_(epsilon), affine_(affine) {}

  std::string_view type() const override { return "layer_norm"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    require_rows(inputs[0]);
    return {inputs[0]};
  }

  std::vector<WeightSpec> weights(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    if (!affine_) return {};
    WeightSpec gamma, beta;
    gamma.name = "gamma", beta.name = "beta";
    gamma.dims = beta.dims = Dims{require_rows(inputs[0])};
    gamma.init = Initializer::kOnes;
    gamma.decays = beta.decays = false;
    return {gamma, beta};
  }

  LayerPlan plan(const LayerSetup& setup) override;
  void forward(const LayerRun& run) override;
  void compute_gradient(const LayerRun& run) override;
  void compute_derivative(const LayerRun& run) override;

 private:
  std::int64_t grain() const { return std::max<std::int64_t>(1, kElementGrain / columns_); }
  float* means(const LayerRun& run) const { return reinterpret_cast<float*>(run.saved[0]); }
  float* inverses(const LayerRun& run) const { return means(run) + rows_; }

  // Its own, or ones and zeros.
  std::pair<const float*, const float*> scale_and_shift(const LayerRun& run) const {
    if (affine_) return {run.weights[kScale], run.weights[kShift]};
    auto* ones = reinterpret_cast<float*>(run.workspace);
    std::fill(ones, ones + columns_, 1.0F);
    std::fill(ones + columns_, ones + 2 * columns_, 0.0F);
    return {ones, ones + columns_};
  }

  const float epsilon_;
  const bool affine_;
  std::int64_t rows_ = 0, columns_ = 0;
};

LayerPlan LayerNorm::plan(const LayerSetup& setup) {
  columns_ = require_rows(setup.inputs[0]);
  rows_ = setup.inputs[0].dims.elements() / columns_;
  const Lifespan backward = Lifespan::kComputeGradient | Lifespan::kComputeDerivative;
  LayerPlan plan;
  plan.inputs = {Lifespan::kForward | Lifespan::kComputeDerivative};
  if (affine_ && setup.train_weight[kScale]) plan.inputs[0] |= Lifespan::kComputeGradient;
  plan.outputs = {Lifespan::kNone};
  plan.saved.push_back({"statistics", static_cast<std::size_t>(2 * rows_) * sizeof(float),
                        Lifespan::kForward | backward});
  plan.gradient_workspace = row_sums_workspace(rows_, columns_, 2 * columns_);
  if (!affine_) {
    plan.forward_workspace = plan.derivative_workspace =
        static_cast<std::size_t>(2 * columns_) * sizeof(float);
  }
  plan.in_place = plan.derivative_in_place = InPlace::kModify;
  return plan;
}

void LayerNorm::forward(const LayerRun& run) {
  const auto weights = scale_and_shift(run);
  parallel_for(rows_, grain(), [&](std::int64_t begin, std::int64_t end) {
    layer_norm(run.inputs[0], weights.first, weights.second, run.outputs[0], means(run),
               inverses(run), epsilon_, columns_, begin, end);
  });
}

void LayerNorm::compute_gradient(const LayerRun& run) {
  const float* sums =
      sum_rows(rows_, columns_, 2 * columns_, run.workspace,
               [&](std::int64_t begin, std::int64_t end, float* to) {
                 if (run.gradients[kScale]) {
                   layer_norm_sums(run.inputs[0], run.output_derivatives[0], means(run),
                                   inverses(run), to, columns_, begin, end);
                   return;
                 }
                 for (std::int64_t r = begin; r < end; ++r) {
                   const float* dy = run.output_derivatives[0] + r * columns_;
                   const std::array<const float*, 2> terms = {to + columns_, dy};
                   add_all(terms, to + columns_, 0, columns_);
                 }
               });
  store_sums(sums, columns_, run.adds(kScale), run.gradients[kScale]);
  store_sums(sums + columns_, columns_, run.adds(kShift), run.gradients[kShift]);
}

void LayerNorm::compute_derivative(const LayerRun& run) {
  const float* gamma = scale_and_shift(run).first;
  parallel_for(rows_, grain(), [&](std::int64_t begin, std::int64_t end) {
    layer_norm_derivative(run.inputs[0], gamma, run.output_derivatives[0], run.input_derivatives[0],
                          means(run), inverses(run), columns_, begin, end);
  });
}

}  // namespace

std::unique_ptr<Layer> make_layer_norm(const std::string& name, const Properties& properties) {
  PropertyReader reader(name, properties);
  const double epsilon = reader.number("epsilon", 1e-5);
  const bool affine = reader.flag("affine", true);
  reader.done();
  if (!(epsilon > 0)) {
    throw Error(ErrorCode::kInvalidArgument,
                "layer \"" + name + "\": property \"epsilon\" must be above 0");
  }
  return std::make_unique<LayerNorm>(static_cast<float>(epsilon), affine);
}

}  // namespace moil
