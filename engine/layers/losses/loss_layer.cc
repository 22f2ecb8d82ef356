#include "engine/layers/losses/loss_layer.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/shapes.h"

namespace moil {

std::vector<TensorInfo> LossLayer::infer_outputs(std::span<const TensorInfo> inputs) const {
  if (inputs.size() != 3) require_inputs(inputs, 2);
  require_same_dims(inputs.first(2));
  channels_of(inputs[0]);
  if (inputs.size() == 3 && inputs[2].dims != Dims{inputs[0].dims[0], 1})
    fail_shape("takes one weight a sample, input 2");
  std::vector<TensorInfo> outputs = {{Dims{1}}};
  if (inputs.size() == 3) outputs.push_back({inputs[2].dims});
  return outputs;
}

LayerPlan LossLayer::plan(const LayerSetup& setup) {
  const TensorInfo& prediction = setup.inputs[0];
  for (std::size_t i = 1; i < setup.inputs.size(); ++i)
    if (setup.input_needs_derivative[i])
      fail_shape("gives a derivative of its prediction alone, input 0");
  rows_ = rows_are_positions() ? rows_of(prediction) : prediction.dims[0];
  columns_ = prediction.dims.elements() / rows_;
  rows_of_sample_ = rows_ / prediction.dims[0];
  divisor_ = divisor(prediction);
  LayerPlan plan;
  plan.inputs.assign(setup.inputs.size(), Lifespan::kForward | Lifespan::kComputeDerivative);
  is_weighted_ = setup.inputs.size() == 3;
  plan.outputs.assign(is_weighted_ ? 2 : 1, Lifespan::kNone);
  plan.output_derivatives = Lifespan::kNone;  // the end of the graph: 1
  const auto rows = static_cast<std::size_t>(rows_);
  plan.forward_workspace = rows * sizeof(double);
  if (is_weighted_)  // derivatives, in the place of the losses
    plan.forward_workspace =
        std::max(plan.forward_workspace, rows * static_cast<std::size_t>(columns_) * sizeof(float));
  return plan;
}

Operation LossLayer::operation() const {
  return operation::Loss{kind(), rows_, columns_, rows_of_sample_, divisor_, delta(), is_weighted_};
}

void LossLayer::forward(const LayerRun& run) {
  auto* losses = reinterpret_cast<double*>(run.workspace);
  parallel_for(rows_, grain(), [&](std::int64_t begin, std::int64_t end) {
    row_losses(run.inputs[0], run.inputs[1], losses, begin, end);
  });
  const float* weights = run.inputs.size() > 2 ? run.inputs[2] : nullptr;
  double total = 0;
  for (std::int64_t r = 0; r < rows_; ++r)
    total += weights ? losses[r] * double{weights[r / rows_of_sample_]} : losses[r];
  run.outputs[0][0] = static_cast<float>(total / divisor_);
  if (weights) gradient_bounds(run);
}

void LossLayer::gradient_bounds(const LayerRun& run) const {
  auto* derivatives = reinterpret_cast<float*>(run.workspace);
  const std::int64_t samples = rows_ / rows_of_sample_;
  const std::int64_t of_sample = rows_of_sample_ * columns_;
  parallel_for(samples, grain(), [&](std::int64_t begin, std::int64_t end) {
    derivative(run.inputs[0], run.inputs[1], derivatives, 1, begin * rows_of_sample_,
               end * rows_of_sample_);
    for (std::int64_t s = begin; s < end; ++s) {
      double squares = 0;
      for (std::int64_t i = s * of_sample; i < (s + 1) * of_sample; ++i)
        squares += double{derivatives[i]} * double{derivatives[i]};
      run.outputs[1][s] = static_cast<float>(std::sqrt(squares));
    }
  });
}

void LossLayer::compute_derivative(const LayerRun& run) {
  const auto scale = static_cast<float>(1 / divisor_);
  parallel_for(rows_, grain(), [&](std::int64_t begin, std::int64_t end) {
    float* dx = run.input_derivatives[0];
    derivative(run.inputs[0], run.inputs[1], dx, scale, begin, end);
    if (run.inputs.size() < 3) return;
    for (std::int64_t r = begin; r < end; ++r) {
      const float weight = run.inputs[2][r / rows_of_sample_];
      for (std::int64_t i = r * columns_; i < (r + 1) * columns_; ++i) dx[i] *= weight;
    }
  });
}

std::int64_t LossLayer::grain() const {
  return std::max<std::int64_t>(1, kElementGrain / 4 / columns_);
}

}  // namespace moil
