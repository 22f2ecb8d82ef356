// A sequence taken apart into its steps, and put together: types "unstack", [N, L, ...] to L
// outputs [N, ...], and "stack", the other way round.
//
// No properties; backward reads only derivatives.
#include <algorithm>

#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

// Both are copies between a whole, [samples, steps, width], and its parts.
class StackBase : public Layer {
 public:
  LayerPlan plan(const LayerSetup& setup) override {
    const Dims& whole = (is_apart(setup) ? setup.inputs : setup.outputs)[0].dims;
    samples_ = whole[0];
    steps_ = whole[1];
    width_ = whole.elements() / samples_ / steps_;
    LayerPlan plan;
    plan.inputs.assign(setup.inputs.size(), Lifespan::kForward);
    plan.outputs.assign(setup.outputs.size(), Lifespan::kNone);
    plan.output_derivatives = Lifespan::kComputeDerivative;
    return plan;
  }

 protected:
  // Parts that nobody needs are null; of a whole they leave zeros.
  template <class Parts>
  void join(const Parts& parts, float* whole) const {
    each_row([&](std::int64_t step, std::int64_t sample, std::int64_t at) {
      const float* part = parts[static_cast<std::size_t>(step)];
      if (part == nullptr)
        std::fill_n(whole + at, width_, 0.0F);
      else
        copy(part + sample * width_, whole + at, 0, width_);
    });
  }
  template <class Parts>
  void split(const float* whole, const Parts& parts) const {
    each_row([&](std::int64_t step, std::int64_t sample, std::int64_t at) {
      if (float* part = parts[static_cast<std::size_t>(step)])
        copy(whole + at, part + sample * width_, 0, width_);
    });
  }

 private:
  virtual bool is_apart(const LayerSetup& setup) const = 0;
  template <class Work>
  void each_row(const Work& work) const {
    parallel_for(samples_ * steps_, std::max<std::int64_t>(1, kElementGrain / width_),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t r = begin; r < end; ++r)
                     work(r % steps_, r / steps_, r * width_);
                 });
  }

  std::int64_t samples_ = 1, steps_ = 1, width_ = 1;
};

class Unstack final : public StackBase {
 public:
  std::string_view type() const override { return "unstack"; }
  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    const Dims& d = inputs[0].dims;
    if (d.rank() < 3 || inputs[0].layout != Layout::kPlain)
      fail_shape("takes [N, L, ...], not " + d.to_string());
    std::vector<std::int64_t> part(d.values().begin(), d.values().end());
    part.erase(part.begin() + 1);
    return std::vector<TensorInfo>(static_cast<std::size_t>(d[1]), {Dims(part)});
  }
  void forward(const LayerRun& run) override { split(run.inputs[0], run.outputs); }
  void compute_derivative(const LayerRun& run) override {
    join(run.output_derivatives, run.input_derivatives[0]);
  }

 private:
  bool is_apart(const LayerSetup&) const override { return true; }
};

class Stack final : public StackBase {
 public:
  std::string_view type() const override { return "stack"; }
  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_at_least(inputs, 1);
    require_same_dims(inputs);
    const Dims& d = inputs[0].dims;
    if (d.rank() < 2 || d.rank() >= Dims::kMaxRank || inputs[0].layout != Layout::kPlain)
      fail_shape("takes [N, ...], not " + d.to_string());
    std::vector<std::int64_t> whole(d.values().begin(), d.values().end());
    whole.insert(whole.begin() + 1, static_cast<std::int64_t>(inputs.size()));
    return {{Dims(whole)}};
  }
  void forward(const LayerRun& run) override { join(run.inputs, run.outputs[0]); }
  void compute_derivative(const LayerRun& run) override {
    split(run.output_derivatives[0], run.input_derivatives);
  }

 private:
  bool is_apart(const LayerSetup&) const override { return false; }
};

template <class Made>
std::unique_ptr<Layer> make_simple(const std::string& name, const Properties& properties) {
  PropertyReader(name, properties).done();
  return std::make_unique<Made>();
}

}  // namespace

std::unique_ptr<Layer> make_stack(const std::string& name, const Properties& properties) {
  return make_simple<Stack>(name, properties);
}
std::unique_ptr<Layer> make_unstack(const std::string& name, const Properties& properties) {
  return make_simple<Unstack>(name, properties);
}

}  // namespace moil
