#include "engine/layers/parameter.h"

#include <algorithm>
#include <array>

#include "engine/kernels/elementwise.h"
#include "engine/kernels/pointwise.h"
#include "engine/kernels/row_sums.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

std::vector<WeightSpec> one_weight(const Dims& dims, Initializer init) {
  WeightSpec weight;
  weight.name = "weight";
  weight.dims = dims;
  weight.init = init;
  weight.decays = false;
  return {weight};
}

// Adds or multiplies; the input is rows of as many elements as the weight has.
class JoinedParameter final : public Layer {
 public:
  JoinedParameter(std::vector<std::int64_t> dims, bool multiplies)
      : dims_(dims), multiplies_(multiplies) {}

  std::string_view type() const override {
    return multiplies_ ? "multiply_parameter" : "add_parameter";
  }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    const Dims& d = inputs[0].dims;
    bool fits = inputs[0].layout == Layout::kPlain && dims_.rank() < d.rank();
    for (std::size_t k = 0; fits && k < dims_.rank(); ++k) fits = dims_.back(k) == d.back(k);
    if (!fits) fail_shape("takes rows that end in " + dims_.to_string() + ", has " + d.to_string());
    return {inputs[0]};
  }

  std::vector<WeightSpec> weights(std::span<const TensorInfo>) const override {
    return one_weight(dims_, multiplies_ ? Initializer::kOnes : Initializer::kZeros);
  }

  LayerPlan plan(const LayerSetup& setup) override;
  void forward(const LayerRun& run) override;
  void compute_gradient(const LayerRun& run) override;
  void compute_derivative(const LayerRun& run) override;

 private:
  std::int64_t grain() const { return std::max<std::int64_t>(1, kElementGrain / columns_); }

  const Dims dims_;
  const bool multiplies_;
  std::int64_t rows_ = 0, columns_ = 0;
};

LayerPlan JoinedParameter::plan(const LayerSetup& setup) {
  columns_ = dims_.elements();
  rows_ = setup.inputs[0].dims.elements() / columns_;
  LayerPlan plan;
  plan.inputs = {Lifespan::kForward};
  if (multiplies_ && setup.train_weight[0]) plan.inputs[0] |= Lifespan::kComputeGradient;
  plan.outputs = {Lifespan::kNone};
  plan.weights = multiplies_ ? Lifespan::kComputeDerivative : Lifespan::kNone;
  plan.gradient_workspace = row_sums_workspace(rows_, columns_, columns_);
  plan.in_place = InPlace::kModify;
  plan.derivative_in_place = multiplies_ ? InPlace::kModify : InPlace::kSameData;
  return plan;
}

void JoinedParameter::forward(const LayerRun& run) {
  parallel_for(rows_, grain(), [&](std::int64_t begin, std::int64_t end) {
    if (multiplies_)
      multiply_channels(run.inputs[0], run.weights[0], run.outputs[0], columns_, begin, end);
    else
      add_row(run.inputs[0], run.weights[0], run.outputs[0], columns_, begin, end);
  });
}

void JoinedParameter::compute_gradient(const LayerRun& run) {
  const float* dy = run.output_derivatives[0];
  const auto add = [&](std::int64_t begin, std::int64_t end, float* to) {
    if (multiplies_) return add_products(run.inputs[0], dy, to, columns_, begin, end);
    for (std::int64_t r = begin; r < end; ++r) {
      const std::array<const float*, 2> terms = {to, dy + r * columns_};
      add_all(terms, to, 0, columns_);
    }
  };
  store_sums(sum_rows(rows_, columns_, columns_, run.workspace, add), columns_, run.accumulate,
             run.gradients[0]);
}

void JoinedParameter::compute_derivative(const LayerRun& run) {
  const float* dy = run.output_derivatives[0];
  float* dx = run.input_derivatives[0];
  parallel_for(rows_, grain(), [&](std::int64_t begin, std::int64_t end) {
    if (multiplies_)
      multiply_channels(dy, run.weights[0], dx, columns_, begin, end);
    else
      copy(dy, dx, begin * columns_, end * columns_);
  });
}

class PrependParameter final : public Layer {
 public:
  explicit PrependParameter(std::int64_t count) : count_(count) {}

  std::string_view type() const override { return "prepend_parameter"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    const Dims& d = inputs[0].dims;
    if (d.rank() != 3) fail_shape("takes rows [N, L, F], has " + d.to_string());
    return {{Dims{d[0], count_ + d[1], d[2]}}};
  }

  std::vector<WeightSpec> weights(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    return one_weight(Dims{count_, inputs[0].dims.back()}, Initializer::kZeros);
  }

  LayerPlan plan(const LayerSetup& setup) override {
    batch_ = setup.inputs[0].dims[0];
    own_ = count_ * setup.inputs[0].dims[2];
    rest_ = setup.inputs[0].dims.elements_per_sample();
    LayerPlan plan;
    plan.inputs = {Lifespan::kForward};
    plan.outputs = {Lifespan::kNone};
    plan.weights = Lifespan::kNone;
    return plan;
  }

  void forward(const LayerRun& run) override {
    each_sample([&](std::int64_t n) {
      float* y = run.outputs[0] + n * (own_ + rest_);
      copy(run.weights[0], y, 0, own_);
      copy(run.inputs[0] + n * rest_, y + own_, 0, rest_);
    });
  }

  void compute_gradient(const LayerRun& run) override {
    float* gradient = run.gradients[0];
    if (!run.accumulate) std::fill(gradient, gradient + own_, 0.0F);
    for (std::int64_t n = 0; n < batch_; ++n) {
      const float* dy = run.output_derivatives[0] + n * (own_ + rest_);
      const std::array<const float*, 2> terms = {gradient, dy};
      add_all(terms, gradient, 0, own_);
    }
  }

  void compute_derivative(const LayerRun& run) override {
    each_sample([&](std::int64_t n) {
      const float* dy = run.output_derivatives[0] + n * (own_ + rest_);
      copy(dy + own_, run.input_derivatives[0] + n * rest_, 0, rest_);
    });
  }

 private:
  template <class Fn>
  void each_sample(const Fn& fn) const {
    const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / (own_ + rest_));
    parallel_for(batch_, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) fn(n);
    });
  }

  const std::int64_t count_;
  std::int64_t batch_ = 0, own_ = 0, rest_ = 0;  // elements of a sample
};

std::unique_ptr<Layer> make_joined(const std::string& name, const Properties& properties,
                                   bool multiplies) {
  PropertyReader reader(name, properties);
  auto dims = reader.list("dims", 1);
  reader.done();
  return std::make_unique<JoinedParameter>(std::move(dims), multiplies);
}

}  // namespace

std::unique_ptr<Layer> make_add_parameter(const std::string& name, const Properties& properties) {
  return make_joined(name, properties, false);
}

std::unique_ptr<Layer> make_multiply_parameter(const std::string& name,
                                               const Properties& properties) {
  return make_joined(name, properties, true);
}

std::unique_ptr<Layer> make_prepend_parameter(const std::string& name,
                                              const Properties& properties) {
  PropertyReader reader(name, properties);
  const std::int64_t count = reader.integer("count", 1, 1);
  reader.done();
  return std::make_unique<PrependParameter>(count);
}

}  // namespace moil
