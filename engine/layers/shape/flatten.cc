// [N, C, H, W] -> [N, C * H * W] in that order, type "flatten".
//
// The same data if that is its order in memory: C or H * W is 1, or the input is no image.
// Otherwise a transposing copy. No properties.
#include <algorithm>

#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/kernels/rows/transpose.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

class Flatten final : public Layer {
 public:
  std::string_view type() const override { return "flatten"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    const Dims& dims = inputs[0].dims;
    if (dims.rank() < 2) fail_shape("takes tensors of rank 2 or more, has " + dims.to_string());
    return {{Dims{dims[0], dims.elements_per_sample()}}};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    const Dims& dims = setup.inputs[0].dims;
    batch_ = dims[0];
    channels_ = setup.inputs[0].layout == Layout::kChannelsLast ? dims[1] : 1;
    pixels_ = dims.elements_per_sample() / channels_;
    same_data_ = channels_ == 1 || pixels_ == 1;
    LayerPlan plan;
    plan.inputs = {Lifespan::kForward};
    plan.outputs = {Lifespan::kNone};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    plan.in_place = same_data_ ? InPlace::kSameData : InPlace::kNo;
    plan.derivative_in_place = plan.in_place;
    return plan;
  }

  void forward(const LayerRun& run) override {
    reorder(run.inputs[0], run.outputs[0], pixels_, channels_);
  }

  void compute_derivative(const LayerRun& run) override {
    reorder(run.output_derivatives[0], run.input_derivatives[0], channels_, pixels_);
  }

 private:
  void reorder(const float* in, float* out, std::int64_t rows, std::int64_t columns) const {
    const std::int64_t size = rows * columns;
    const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / size);
    parallel_for(batch_, grain, [&](std::int64_t begin, std::int64_t end) {
      if (same_data_) return copy(in, out, begin * size, end * size);
      for (std::int64_t n = begin; n < end; ++n)
        transpose(in + n * size, out + n * size, rows, columns);
    });
  }

  std::int64_t batch_ = 0, channels_ = 0, pixels_ = 0;
  bool same_data_ = false;
};

}  // namespace

std::unique_ptr<Layer> make_flatten(const std::string& name, const Properties& properties) {
  PropertyReader(name, properties).done();
  return std::make_unique<Flatten>();
}

}  // namespace moil
