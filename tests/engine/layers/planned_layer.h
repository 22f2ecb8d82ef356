// A layer with all its tensors, planned and ready to run, for tests of single layers.
#pragma once

#include <memory>
#include <vector>

#include "engine/device/kernel_selector.h"
#include "engine/layers/layer.h"
#include "engine/layers/weight_order.h"
#include "tests/engine/device/conv_reference.h"

namespace moil::test {

// Everything begins as NaN but what the test fills in; sizes are exactly what the plan says.
struct PlannedLayer {
  std::unique_ptr<Layer> layer;
  KernelSelector* kernels = nullptr;
  LayerSetup setup;
  std::vector<WeightSpec> specs;
  LayerPlan plan;
  std::vector<float> x, dy;                 // in memory order
  std::vector<std::vector<float>> weights;  // in memory order
  std::vector<float> y, dx;
  std::vector<std::vector<float>> gradients;

  // train: one for all weights and the input, or each.
  PlannedLayer(std::unique_ptr<Layer> made, const TensorInfo& input, bool training,
               std::vector<bool> train_weight, bool derivative, KernelSelector& selector)
      : layer(std::move(made)), kernels(&selector) {
    setup.inputs = {input};
    setup.outputs = layer->infer_outputs(setup.inputs);
    setup.training = training;
    specs = layer->weights(setup.inputs);
    setup.train_weight = std::move(train_weight);
    setup.input_needs_derivative = {derivative};
    setup.kernels = kernels;
    plan = layer->plan(setup);
    x = random_floats(input.dims.elements(), 11);
    dy = random_floats(setup.outputs[0].dims.elements(), 12);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      weights.push_back(random_floats(specs[i].dims.elements(), 13 + static_cast<unsigned>(i)));
      gradients.emplace_back(weights.back().size(), NAN);
    }
    y.assign(dy.size(), NAN);
    dx.assign(x.size(), NAN);
  }

  void forward() {
    with_pointers(plan.forward_workspace, [&](LayerRun& run) {
      layer->weights_changed(run);
      layer->forward(run);
    });
  }
  void compute_gradient(bool accumulate = false) {
    with_pointers(plan.gradient_workspace, [&](LayerRun& run) {
      run.accumulate = accumulate;
      layer->compute_gradient(run);
    });
  }
  void compute_derivative() {
    with_pointers(plan.derivative_workspace,
                  [&](LayerRun& run) { layer->compute_derivative(run); });
  }

  // sum(y * dy): its derivatives are what CG and CD compute.
  double loss() {
    forward();
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += static_cast<double>(y[i]) * dy[i];
    return sum;
  }

 private:
  template <class Fn>
  void with_pointers(std::size_t workspace_bytes, const Fn& fn) {
    const AlignedBytes workspace(workspace_bytes);
    std::fill_n(workspace.get(), workspace_bytes, std::byte{0xFF});
    std::vector<std::unique_ptr<AlignedBytes>> saved;
    std::vector<std::byte*> saved_pointers;
    for (const SavedSpec& s : plan.saved) {
      saved.push_back(std::make_unique<AlignedBytes>(s.bytes));
      saved_pointers.push_back(saved.back()->get());
    }
    std::vector<float*> weight_pointers, gradient_pointers;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weight_pointers.push_back(weights[i].data());
      gradient_pointers.push_back(setup.train_weight[i] ? gradients[i].data() : nullptr);
    }
    const float* in[] = {x.data()};
    float* out[] = {y.data()};
    const float* dout[] = {dy.data()};
    float* din[] = {setup.input_needs_derivative[0] ? dx.data() : nullptr};
    LayerRun run;
    run.inputs = in, run.outputs = out, run.output_derivatives = dout, run.input_derivatives = din;
    run.weights = weight_pointers, run.gradients = gradient_pointers, run.saved = saved_pointers;
    run.workspace = workspace.get();
    fn(run);
  }
};

// The largest error of the gradient against central differences of the loss, relative to the
// largest difference; `at` are the values that are moved.
inline double finite_difference_error(PlannedLayer& l, std::vector<float>& at,
                                      const std::vector<float>& gradient) {
  constexpr float kStep = 0.25F;  // the loss is linear in each: any step does
  double worst = 0, scale = 1e-6;
  const std::size_t stride = std::max<std::size_t>(1, at.size() / 40);
  for (std::size_t i = 0; i < at.size(); i += stride) {
    const float was = at[i];
    at[i] = was + kStep;
    const double up = l.loss();
    at[i] = was - kStep;
    const double down = l.loss();
    at[i] = was;
    const double expected = (up - down) / (2 * kStep);
    const double d = std::abs(expected - gradient[i]);
    worst = std::isnan(d) ? INFINITY : std::max(worst, d);
    scale = std::max(scale, std::abs(expected));
  }
  return worst / scale;
}

}  // namespace moil::test
