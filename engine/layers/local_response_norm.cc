// Every channel of an image divided by a power of its neighbours', type "local_response_norm":
// y = x / (bias + alpha / size * the sum of squares over `size` channels around)^beta.
//
// Properties: size, an odd number; alpha = 1e-4, beta = 0.75, bias = 1. Backward reads the input.
#include <algorithm>

#include "base/error.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/kernels/rows/response_norm.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

class LocalResponseNorm final : public Layer {
 public:
  explicit LocalResponseNorm(const ResponseNorm& norm) : norm_(norm) {}

  std::string_view type() const override { return "local_response_norm"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    require_image(inputs[0]);
    return {inputs[0]};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    channels_ = channels_of(setup.inputs[0]);
    rows_ = rows_of(setup.inputs[0]);
    grain_ = std::max<std::int64_t>(1, kElementGrain / (channels_ * norm_.size));
    parts_ = part_count(rows_, grain_);
    LayerPlan plan;
    plan.inputs = {Lifespan::kForward | Lifespan::kComputeDerivative};
    plan.outputs = {Lifespan::kNone};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    plan.derivative_workspace = static_cast<std::size_t>(parts_ * 2 * channels_) * sizeof(float);
    plan.derivative_in_place = InPlace::kModify;
    return plan;
  }

  void forward(const LayerRun& run) override {
    parallel_for(rows_, grain_, [&](std::int64_t begin, std::int64_t end) {
      response_norm(norm_, run.inputs[0], run.outputs[0], channels_, begin, end);
    });
  }

  void compute_derivative(const LayerRun& run) override {
    auto* scratch = reinterpret_cast<float*>(run.workspace);
    parallel_parts(parts_, [&](int part) {
      const Range r = part_of(rows_, part, parts_);
      response_norm_derivative(norm_, run.inputs[0], run.output_derivatives[0],
                               run.input_derivatives[0], scratch + part * 2 * channels_, channels_,
                               r.begin, r.end);
    });
  }

 private:
  const ResponseNorm norm_;
  std::int64_t rows_ = 0, channels_ = 0, grain_ = 1;
  int parts_ = 1;
};

}  // namespace

std::unique_ptr<Layer> make_local_response_norm(const std::string& name,
                                                const Properties& properties) {
  constexpr std::int64_t kMostChannels = 255;
  PropertyReader reader(name, properties);
  const std::int64_t size = reader.integer("size");
  const double alpha = reader.number("alpha", 1e-4), beta = reader.number("beta", 0.75),
               bias = reader.number("bias", 1);
  reader.done();
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kInvalidArgument, "layer \"" + name + "\": property " + what);
  };
  if (size < 1 || size > kMostChannels || size % 2 == 0)
    refuse("\"size\" must be an odd number below 256");
  if (!(alpha >= 0)) refuse("\"alpha\" must be at least 0");
  if (!(beta >= 0)) refuse("\"beta\" must be at least 0");
  if (!(bias > 0)) refuse("\"bias\" must be above 0");
  return std::make_unique<LocalResponseNorm>(ResponseNorm{
      size, static_cast<float>(alpha), static_cast<float>(beta), static_cast<float>(bias)});
}

}  // namespace moil
