// Part of an axis, type "slice": indices start, start + step, ... along it, `length` of them.
//
// Properties: axis (1 or more), start (0), length, step (1), which may be below 0.
#include <cstdlib>

#include "base/error.h"
#include "engine/layers/axes.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

constexpr std::int64_t kMostSteps = std::int64_t{1} << 32;  // backwards

struct SliceProperties {
  std::int64_t axis = 1, start = 0, length = 1, step = 1;
};

class Slice final : public Layer {
 public:
  explicit Slice(const SliceProperties& properties) : p_(properties) {}

  std::string_view type() const override { return "slice"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    const std::size_t axis = require_axis(inputs[0], p_.axis);
    const std::int64_t size = inputs[0].dims[axis];
    const std::int64_t behind = p_.step > 0 ? size - p_.start - 1 : p_.start;
    if (p_.start >= size || p_.length > behind / std::abs(p_.step) + 1) {
      fail_shape("takes " + std::to_string(p_.length) + " of axis " + std::to_string(p_.axis) +
                 " from " + std::to_string(p_.start) + " on in steps of " +
                 std::to_string(p_.step) + "; it has " + std::to_string(size));
    }
    const auto values = inputs[0].dims.values();
    std::vector<std::int64_t> dims(values.begin(), values.end());
    dims[axis] = p_.length;
    return {{Dims(dims), inputs[0].layout}};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    const auto axis = static_cast<std::size_t>(p_.axis);
    Strides from = memory_strides(setup.inputs[0]);
    first_ = p_.start * from[axis];
    from[axis] *= p_.step;
    there_ = copy_between(setup.outputs[0], from, memory_strides(setup.outputs[0]));
    back_ = there_.reversed();
    elements_ = setup.inputs[0].dims.elements();
    LayerPlan plan;
    plan.inputs = {Lifespan::kForward};
    plan.outputs = {Lifespan::kNone};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    return plan;
  }

  void forward(const LayerRun& run) override { there_.run(run.inputs[0] + first_, run.outputs[0]); }

  void compute_derivative(const LayerRun& run) override {
    fill(0, run.input_derivatives[0], elements_);
    back_.run(run.output_derivatives[0], run.input_derivatives[0] + first_);
  }

 private:
  const SliceProperties p_;
  std::int64_t first_ = 0, elements_ = 0;
  StridedCopy there_, back_;
};

}  // namespace

std::unique_ptr<Layer> make_slice(const std::string& name, const Properties& properties) {
  PropertyReader reader(name, properties);
  SliceProperties p;
  p.axis = reader.integer("axis", 1, 1);
  p.start = reader.integer("start", 0);
  p.length = reader.integer("length");
  p.step = reader.integer("step", 1, -kMostSteps);
  reader.done();
  if (p.step == 0)
    throw Error(ErrorCode::kInvalidArgument,
                "layer \"" + name + "\": property \"step\" must not be 0");
  return std::make_unique<Slice>(p);
}

}  // namespace moil
