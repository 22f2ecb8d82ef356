// Maximum over windows of an image, type "max_pool".
//
// Properties: kernel, stride = kernel, padding = 0, dilation = 1 (each a number or [height, width];
// padding also [top, left, bottom, right], at most half of what a window spans), ceil_mode = false.
// Backward reads where each maximum stood (1 byte an output element, 2 for windows above 256), not
// the input.
#include "engine/kernels/convolution/pooling.h"
#include "engine/kernels/parallel.h"
#include "engine/layers/makers.h"
#include "engine/layers/pool_properties.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

class MaxPool final : public Layer {
 public:
  explicit MaxPool(const PoolProperties& properties) : properties_(properties) {}

  std::string_view type() const override { return "max_pool"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    return {pool_output(pool_shape(properties_, inputs[0]))};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    shape_ = pool_shape(properties_, setup.inputs[0]);
    keeps_argmax_ = setup.computes_derivative();
    LayerPlan plan;
    plan.inputs = {Lifespan::kForward};
    plan.outputs = {Lifespan::kNone};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    if (keeps_argmax_) {
      const auto elements = static_cast<std::size_t>(setup.outputs[0].dims.elements());
      plan.saved.push_back({"argmax", elements * argmax_bytes(shape_),
                            Lifespan::kForward | Lifespan::kComputeDerivative});
    }
    return plan;
  }

  Operation operation() const override { return operation::MaxPool{shape_, keeps_argmax_}; }

  void forward(const LayerRun& run) override {
    std::byte* argmax = keeps_argmax_ ? run.saved[0] : nullptr;
    parallel_for(shape_.batch * shape_.out_h, pool_grain(shape_),
                 [&](std::int64_t begin, std::int64_t end) {
                   max_pool(shape_, run.inputs[0], run.outputs[0], argmax, begin, end);
                 });
  }

  void compute_derivative(const LayerRun& run) override {
    parallel_for(shape_.batch * shape_.in_h, pool_grain(shape_),
                 [&](std::int64_t begin, std::int64_t end) {
                   max_pool_derivative(shape_, run.output_derivatives[0], run.saved[0],
                                       run.input_derivatives[0], begin, end);
                 });
  }

 private:
  const PoolProperties properties_;
  PoolShape shape_;
  bool keeps_argmax_ = false;
};

}  // namespace

std::unique_ptr<Layer> make_max_pool(const std::string& name, const Properties& properties) {
  PropertyReader reader(name, properties);
  const PoolProperties pool = read_pool_properties(reader, name, properties, PoolGaps::kAllowed);
  reader.done();
  return std::make_unique<MaxPool>(pool);
}

}  // namespace moil
