// Product of two tensors, type "multiply": of the same dims, or an image [N, C, H, W] times one
// factor a channel, [N, C] or [N, C, 1, 1]. In place over input 0 if input 1 needs no
// derivative. No properties.
#include <algorithm>

#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

// Whether `factor` is one number a channel of the image `info`.
bool is_factor_a_channel(const TensorInfo& info, const TensorInfo& factor) {
  const Dims &image = info.dims, &f = factor.dims;
  if (info.layout != Layout::kChannelsLast || f.rank() < 2 || f[0] != image[0] || f[1] != image[1])
    return false;
  return f.rank() == 2 || (f.rank() == 4 && f[2] == 1 && f[3] == 1);
}

class Multiply final : public Layer {
 public:
  std::string_view type() const override { return "multiply"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 2);
    if (!is_factor_a_channel(inputs[0], inputs[1])) require_same_dims(inputs);
    return {inputs[0]};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    const Dims& dims = setup.inputs[0].dims;
    by_channel_ = !(dims == setup.inputs[1].dims);
    elements_ = dims.elements();
    batch_ = dims[0];
    channels_ = channels_of(setup.inputs[0]);
    pixels_ = elements_ / batch_ / channels_;
    LayerPlan plan;
    plan.inputs.assign(2, Lifespan::kForward);
    if (setup.input_needs_derivative[1]) plan.inputs[0] |= Lifespan::kComputeDerivative;
    if (setup.input_needs_derivative[0]) plan.inputs[1] |= Lifespan::kComputeDerivative;
    plan.outputs = {Lifespan::kNone};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    plan.in_place = plan.derivative_in_place = InPlace::kModify;
    return plan;
  }

  void forward(const LayerRun& run) override {
    scale(run.inputs[0], run.inputs[1], run.outputs[0]);
  }

  // Input 0's derivative last: it may lie over the output's.
  void compute_derivative(const LayerRun& run) override {
    const float* dy = run.output_derivatives[0];
    if (float* dx = run.input_derivatives[1]) {
      if (by_channel_)
        sum(run.inputs[0], dy, dx);
      else
        scale(run.inputs[0], dy, dx);
    }
    if (float* dx = run.input_derivatives[0]) scale(dy, run.inputs[1], dx);
  }

 private:
  void scale(const float* in, const float* factors, float* out) const {
    if (!by_channel_) {
      parallel_for(elements_, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
        multiply(in, factors, out, begin, end);
      });
      return;
    }
    parallel_for(batch_, grain(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) {
        const std::int64_t at = n * pixels_ * channels_;
        multiply_channels(in + at, factors + n * channels_, out + at, channels_, 0, pixels_);
      }
    });
  }

  void sum(const float* a, const float* b, float* out) const {
    parallel_for(batch_, grain(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) {
        const std::int64_t at = n * pixels_ * channels_;
        sum_products_by_channel(a + at, b + at, out + n * channels_, pixels_, channels_);
      }
    });
  }

  std::int64_t grain() const {
    return std::max<std::int64_t>(1, kElementGrain / (pixels_ * channels_));
  }

  bool by_channel_ = false;
  std::int64_t elements_ = 0, batch_ = 0, pixels_ = 0, channels_ = 0;
};

}  // namespace

std::unique_ptr<Layer> make_multiply(const std::string& name, const Properties& properties) {
  PropertyReader(name, properties).done();
  return std::make_unique<Multiply>();
}

}  // namespace moil
