// Zeroes elements with probability `rate` in training and scales the others by 1 / (1 - rate),
// type "dropout". At inference the same data.
//
// Property: rate = 0.5, 0 <= rate < 1. The mask is a function of LayerRun::random_key and stored
// nowhere; in place. At most 2^32 elements.
#include "engine/kernels/rows/dropout.h"

#include "base/error.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

class Dropout final : public Layer {
 public:
  explicit Dropout(double rate) : rate_(rate) {}

  std::string_view type() const override { return "dropout"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    if (inputs[0].dims.elements() > (std::int64_t{1} << 32))
      fail_shape("takes at most 2^32 elements, has " + inputs[0].dims.to_string());
    return {inputs[0]};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    elements_ = setup.inputs[0].dims.elements();
    per_sample_ = setup.inputs[0].dims.elements_per_sample();
    drops_ = setup.training && rate_ > 0;
    LayerPlan plan;
    plan.inputs = {Lifespan::kForward};
    plan.outputs = {Lifespan::kNone};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    plan.in_place = drops_ ? InPlace::kModify : InPlace::kSameData;
    plan.derivative_in_place = plan.in_place;
    return plan;
  }

  void forward(const LayerRun& run) override { apply(run.inputs[0], run.outputs[0], run); }

  void compute_derivative(const LayerRun& run) override {
    apply(run.output_derivatives[0], run.input_derivatives[0], run);
  }

 private:
  void apply(const float* in, float* out, const LayerRun& run) const {
    const std::int64_t first = run.first_sample * per_sample_;
    parallel_for(elements_, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      if (drops_)
        dropout(in, out, run.random_key, rate_, begin, end, first);
      else
        copy(in, out, begin, end);
    });
  }

  const double rate_;
  std::int64_t elements_ = 0, per_sample_ = 0;
  bool drops_ = false;
};

}  // namespace

std::unique_ptr<Layer> make_dropout(const std::string& name, const Properties& properties) {
  PropertyReader reader(name, properties);
  const double rate = reader.number("rate", 0.5);
  reader.done();
  if (!(rate >= 0 && rate < 1)) {
    throw Error(ErrorCode::kInvalidArgument,
                "layer \"" + name + "\": property \"rate\" must be at least 0 and below 1");
  }
  return std::make_unique<Dropout>(rate);
}

}  // namespace moil
