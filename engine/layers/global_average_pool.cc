// Mean over all pixels: [N, C, H, W] -> [N, C], type "global_average_pool".
//
// Property: keep_dims = false (true: [N, C, 1, 1]). Backward reads only the derivative.
#include <algorithm>

#include "engine/kernels/convolution/pooling.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

class GlobalAveragePool final : public Layer {
 public:
  explicit GlobalAveragePool(bool keep_dims) : keep_dims_(keep_dims) {}

  std::string_view type() const override { return "global_average_pool"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    require_image(inputs[0]);
    const std::int64_t batch = inputs[0].dims[0], channels = inputs[0].dims[1];
    if (keep_dims_) return {{Dims{batch, channels, 1, 1}, Layout::kChannelsLast}};
    return {{Dims{batch, channels}}};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    const Dims& dims = setup.inputs[0].dims;
    batch_ = dims[0];
    channels_ = dims[1];
    pixels_ = dims[2] * dims[3];
    LayerPlan plan;
    plan.inputs = {Lifespan::kForward};
    plan.outputs = {Lifespan::kNone};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    return plan;
  }

  Operation operation() const override {
    return operation::GlobalAveragePool{batch_, pixels_, channels_};
  }

  void forward(const LayerRun& run) override {
    parallel_for(batch_, grain(), [&](std::int64_t begin, std::int64_t end) {
      global_average_pool(run.inputs[0], run.outputs[0], pixels_, channels_, begin, end);
    });
  }

  void compute_derivative(const LayerRun& run) override {
    parallel_for(batch_, grain(), [&](std::int64_t begin, std::int64_t end) {
      global_average_pool_derivative(run.output_derivatives[0], run.input_derivatives[0], pixels_,
                                     channels_, begin, end);
    });
  }

 private:
  std::int64_t grain() const {
    return std::max<std::int64_t>(1, kElementGrain / (pixels_ * channels_));
  }

  const bool keep_dims_;
  std::int64_t batch_ = 0, pixels_ = 0, channels_ = 0;
};

}  // namespace

std::unique_ptr<Layer> make_global_average_pool(const std::string& name,
                                                const Properties& properties) {
  PropertyReader reader(name, properties);
  const bool keep_dims = reader.flag("keep_dims", false);
  reader.done();
  return std::make_unique<GlobalAveragePool>(keep_dims);
}

}  // namespace moil
