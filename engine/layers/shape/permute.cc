// Axes in another order, type "permute": axis k of the result is axis order[k] of the input.
//
// Properties: order, a list that begins with 0, since the batch stays first; layout ("plain" or
// "channels_last"), of a result of rank 4. Shares its memory if nothing moves in it, as from an
// image to its rows of channels.
#include <algorithm>

#include "base/error.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/axes.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

class Permute final : public Layer {
 public:
  Permute(std::vector<std::int64_t> order, Layout layout)
      : order_(std::move(order)), layout_(layout) {}

  std::string_view type() const override { return "permute"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    const Dims& before = inputs[0].dims;
    if (before.rank() != order_.size()) {
      fail_shape("has an order of " + std::to_string(order_.size()) + " axes for " +
                 before.to_string());
    }
    std::vector<std::int64_t> dims;
    for (const std::int64_t k : order_) dims.push_back(before[static_cast<std::size_t>(k)]);
    return {{Dims(dims), dims.size() == 4 ? layout_ : Layout::kPlain}};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    const TensorInfo& out = setup.outputs[0];
    const Strides before = memory_strides(setup.inputs[0]), after = memory_strides(out);
    Strides from{};
    same_data_ = true;
    for (std::size_t k = 0; k < order_.size(); ++k) {
      from[k] = before[static_cast<std::size_t>(order_[k])];
      same_data_ = same_data_ && (from[k] == after[k] || out.dims[k] == 1);
    }
    elements_ = out.dims.elements();
    there_ = copy_between(out, from, after);
    back_ = there_.reversed();
    LayerPlan plan;
    plan.inputs = {Lifespan::kForward};
    plan.outputs = {Lifespan::kNone};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    plan.in_place = plan.derivative_in_place = same_data_ ? InPlace::kSameData : InPlace::kNo;
    return plan;
  }

  void forward(const LayerRun& run) override { move(there_, run.inputs[0], run.outputs[0]); }

  void compute_derivative(const LayerRun& run) override {
    move(back_, run.output_derivatives[0], run.input_derivatives[0]);
  }

 private:
  void move(const StridedCopy& way, const float* in, float* out) const {
    if (!same_data_) return way.run(in, out);
    parallel_for(elements_, kElementGrain,
                 [&](std::int64_t begin, std::int64_t end) { copy(in, out, begin, end); });
  }

  const std::vector<std::int64_t> order_;
  const Layout layout_;
  std::int64_t elements_ = 0;
  bool same_data_ = false;
  StridedCopy there_, back_;
};

}  // namespace

std::unique_ptr<Layer> make_permute(const std::string& name, const Properties& properties) {
  PropertyReader reader(name, properties);
  auto order = reader.list("order");
  const Layout layout = read_layout(reader, Layout::kPlain);
  reader.done();
  std::vector<std::int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool good = order[0] == 0 && order.size() <= Dims::kMaxRank;
  for (std::size_t k = 0; good && k < sorted.size(); ++k)
    good = sorted[k] == static_cast<std::int64_t>(k);
  if (!good) {
    throw Error(ErrorCode::kInvalidArgument,
                "layer \"" + name +
                    "\": property \"order\" must name every axis once, the batch (0) first");
  }
  return std::make_unique<Permute>(std::move(order), layout);
}

}  // namespace moil
