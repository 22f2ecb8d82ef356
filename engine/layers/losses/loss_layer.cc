#include "engine/layers/losses/loss_layer.h"

#include <algorithm>
#include <atomic>

#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/shapes.h"

namespace moil {

std::vector<TensorInfo> LossLayer::infer_outputs(std::span<const TensorInfo> inputs) const {
  require_inputs(inputs, 2);
  require_same_dims(inputs);
  channels_of(inputs[0]);
  return {{Dims{1}}};
}

LayerPlan LossLayer::plan(const LayerSetup& setup) {
  const TensorInfo& prediction = setup.inputs[0];
  if (setup.input_needs_derivative[1])
    fail_shape("gives a derivative of its prediction alone, input 0");
  rows_ = rows_are_positions() ? rows_of(prediction) : prediction.dims[0];
  columns_ = prediction.dims.elements() / rows_;
  divisor_ = divisor(prediction);
  LayerPlan plan;
  plan.inputs.assign(setup.inputs.size(), Lifespan::kForward | Lifespan::kComputeDerivative);
  plan.outputs = {Lifespan::kNone};
  plan.output_derivatives = Lifespan::kNone;  // the end of the graph: 1
  plan.mixes_samples = counts_rows();
  plan.forward_workspace = static_cast<std::size_t>(rows_) * sizeof(double);
  return plan;
}

Operation LossLayer::operation() const {
  if (counts_rows()) return {};
  return operation::Loss{kind(), rows_, columns_, divisor_, delta()};
}

void LossLayer::forward(const LayerRun& run) {
  auto* losses = reinterpret_cast<double*>(run.workspace);
  parallel_for(rows_, grain(), [&](std::int64_t begin, std::int64_t end) {
    row_losses(run.inputs[0], run.inputs[1], losses, begin, end);
  });
  double total = 0;
  for (std::int64_t r = 0; r < rows_; ++r) total += losses[r];
  run.outputs[0][0] = static_cast<float>(total / divisor_of(run.inputs[1]));
}

void LossLayer::compute_derivative(const LayerRun& run) {
  const auto scale = static_cast<float>(1 / divisor_of(run.inputs[1]));
  parallel_for(rows_, grain(), [&](std::int64_t begin, std::int64_t end) {
    derivative(run.inputs[0], run.inputs[1], run.input_derivatives[0], scale, begin, end);
  });
}

// 1 if there is nothing but padding: it divides sums of 0.
double LossLayer::divisor_of(const float* target) const {
  if (!counts_rows()) return divisor_;
  std::atomic<std::int64_t> count = 0;
  parallel_for(rows_, grain(), [&](std::int64_t begin, std::int64_t end) {
    std::int64_t own = 0;
    for (const float* row = target + begin * columns_; begin < end; ++begin, row += columns_)
      own += std::any_of(row, row + columns_, [](float t) { return t != 0; }) ? 1 : 0;
    count += own;
  });
  return static_cast<double>(std::max<std::int64_t>(1, count));
}

std::int64_t LossLayer::grain() const {
  return std::max<std::int64_t>(1, kElementGrain / 4 / columns_);
}

}  // namespace moil
