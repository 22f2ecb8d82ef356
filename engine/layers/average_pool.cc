// Mean over windows of an image, type "average_pool".
//
// Properties: as max_pool's, and count_include_pad = true (padding counts in the divisor).
// Backward reads only the derivative.
#include "engine/kernels/convolution/pooling.h"
#include "engine/kernels/parallel.h"
#include "engine/layers/makers.h"
#include "engine/layers/pool_properties.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

class AveragePool final : public Layer {
 public:
  explicit AveragePool(const PoolProperties& properties) : properties_(properties) {}

  std::string_view type() const override { return "average_pool"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    return {pool_output(pool_shape(properties_, inputs[0]))};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    shape_ = pool_shape(properties_, setup.inputs[0]);
    LayerPlan plan;
    plan.inputs = {Lifespan::kForward};
    plan.outputs = {Lifespan::kNone};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    return plan;
  }

  Operation operation() const override { return operation::AveragePool{shape_}; }

  void forward(const LayerRun& run) override {
    parallel_for(shape_.batch * shape_.out_h, pool_grain(shape_),
                 [&](std::int64_t begin, std::int64_t end) {
                   average_pool(shape_, run.inputs[0], run.outputs[0], begin, end);
                 });
  }

  void compute_derivative(const LayerRun& run) override {
    parallel_for(shape_.batch * shape_.in_h, pool_grain(shape_),
                 [&](std::int64_t begin, std::int64_t end) {
                   average_pool_derivative(shape_, run.output_derivatives[0],
                                           run.input_derivatives[0], begin, end);
                 });
  }

 private:
  const PoolProperties properties_;
  PoolShape shape_;
};

}  // namespace

std::unique_ptr<Layer> make_average_pool(const std::string& name, const Properties& properties) {
  PropertyReader reader(name, properties);
  PoolProperties pool = read_pool_properties(reader, name, properties);
  pool.window.count_include_pad = reader.flag("count_include_pad", true);
  reader.done();
  return std::make_unique<AveragePool>(pool);
}

}  // namespace moil
