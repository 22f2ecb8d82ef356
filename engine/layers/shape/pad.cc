// Elements of one value around a tensor, type "pad".
//
// Properties: begin and end, a list each of as many numbers as the input has axes behind the batch:
// [channels, rows, columns] of an image; value (0).
#include "base/error.h"
#include "engine/layers/axes.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

using Counts = std::vector<std::int64_t>;

class Pad final : public Layer {
 public:
  Pad(Counts begin, Counts end, float value)
      : begin_(std::move(begin)), end_(std::move(end)), value_(value) {}

  std::string_view type() const override { return "pad"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    const auto before = inputs[0].dims.values();
    if (begin_.size() + 1 != before.size()) {
      fail_shape("pads " + std::to_string(begin_.size()) + " axes behind the batch, has " +
                 inputs[0].dims.to_string());
    }
    Counts dims(before.begin(), before.end());
    for (std::size_t k = 1; k < dims.size(); ++k) dims[k] += begin_[k - 1] + end_[k - 1];
    return {{Dims(dims), inputs[0].layout}};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    const Strides to = memory_strides(setup.outputs[0]);
    first_ = 0;
    for (std::size_t k = 0; k < begin_.size(); ++k) first_ += begin_[k] * to[k + 1];
    there_ = copy_between(setup.inputs[0], memory_strides(setup.inputs[0]), to);
    back_ = there_.reversed();
    elements_ = setup.outputs[0].dims.elements();
    LayerPlan plan;
    plan.inputs = {Lifespan::kForward};
    plan.outputs = {Lifespan::kNone};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    return plan;
  }

  void forward(const LayerRun& run) override {
    fill(value_, run.outputs[0], elements_);
    there_.run(run.inputs[0], run.outputs[0] + first_);
  }

  void compute_derivative(const LayerRun& run) override {
    back_.run(run.output_derivatives[0] + first_, run.input_derivatives[0]);
  }

 private:
  const Counts begin_, end_;
  const float value_;
  std::int64_t first_ = 0, elements_ = 0;
  StridedCopy there_, back_;
};

}  // namespace

std::unique_ptr<Layer> make_pad(const std::string& name, const Properties& properties) {
  // Such a width cannot be meant, and sums of them stay far from overflow.
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  PropertyReader reader(name, properties);
  Counts begin = reader.list("begin"), end = reader.list("end");
  const double value = reader.number("value", 0);
  reader.done();
  bool good = begin.size() == end.size();
  for (const Counts* counts : {&begin, &end})
    for (const std::int64_t count : *counts) good = good && count <= kMost;
  if (!good) {
    throw Error(ErrorCode::kInvalidArgument,
                "layer \"" + name +
                    "\": properties \"begin\" and \"end\" must be of one length, and below 2^32");
  }
  return std::make_unique<Pad>(std::move(begin), std::move(end), static_cast<float>(value));
}

}  // namespace moil
