// Trained tensors of a model's own, met by every sample:
//   "add_parameter"       y = x + weight: a positional embedding
//   "multiply_parameter"  y = x * weight: a scale of every feature
//   "prepend_parameter"   y = weight, then x, along axis 1: a class token
//
// Properties of the first two: dims, of the weight, which are the last of the input's, [L, F] or
// [F], or 1 if all along an axis meet one number, as in [W, 1, L, L]; trained = true, or false
// for a constant such as a mask. The third has count (1); [N, L, F] to [N, count + L, F]. Weight:
// "weight", of these dims, or [count, F]. Plain layout.
#include <algorithm>
#include <array>
#include <vector>

#include "engine/kernels/rows/elementwise.h"
#include "engine/kernels/rows/pointwise.h"
#include "engine/kernels/rows/row_sums.h"
#include "engine/layers/makers.h"
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

// Where the elements of a weight meet those of a row that is as long or longer: run by run, each of
// a row's elements one behind the other with as many of the weight's, or with one of them.
struct Runs {
  Runs() = default;
  Runs(const Dims& row, const Dims& weight) {
    std::size_t behind = 0;  // axes that a run goes through
    one = weight.back(0) == 1 && row.back(0) != 1;
    for (; behind < row.rank(); ++behind) {
      const bool is_one = weight.back(behind) == 1 && row.back(behind) != 1;
      if (is_one != one && row.back(behind) != 1) break;
      length *= row.back(behind);
    }
    const std::size_t axes = row.rank() - behind;
    const std::int64_t count = row.elements() / length;
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t rest = i, at = 0, stride = one ? 1 : length;
      for (std::size_t k = axes; k-- > 0;) {
        const std::int64_t index = rest % row[k];
        rest /= row[k];
        if (weight[k] != 1) at += index * stride;
        stride *= weight[k];
      }
      begins.push_back(at);
    }
  }

  bool are_rows() const { return begins.size() == 1 && !one; }

  std::int64_t length = 1;
  bool one = false;                  // a run meets one element of the weight
  std::vector<std::int64_t> begins;  // in the weight, of each run of a row
};

// Adds or multiplies; the input is rows whose last dims the weight has, or 1 instead.
class JoinedParameter final : public Layer {
 public:
  JoinedParameter(std::vector<std::int64_t> dims, bool multiplies, bool trained)
      : dims_(dims), multiplies_(multiplies), trained_(trained) {}

  std::string_view type() const override {
    return multiplies_ ? "multiply_parameter" : "add_parameter";
  }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    const Dims& d = inputs[0].dims;
    bool fits = inputs[0].layout == Layout::kPlain && dims_.rank() < d.rank();
    for (std::size_t k = 0; fits && k < dims_.rank(); ++k)
      fits = dims_.back(k) == d.back(k) || dims_.back(k) == 1;
    if (!fits) fail_shape("takes rows that end in " + dims_.to_string() + ", has " + d.to_string());
    return {inputs[0]};
  }

  std::vector<WeightSpec> weights(std::span<const TensorInfo>) const override {
    auto weights = one_weight(dims_, multiplies_ ? Initializer::kOnes : Initializer::kZeros);
    weights[0].trainable = trained_;
    return weights;
  }

  LayerPlan plan(const LayerSetup& setup) override;
  void forward(const LayerRun& run) override;
  void compute_gradient(const LayerRun& run) override;
  void compute_derivative(const LayerRun& run) override;

 private:
  std::int64_t grain() const { return std::max<std::int64_t>(1, kElementGrain / columns_); }
  void join(const float* x, const float* weight, float* y, std::int64_t begin,
            std::int64_t end) const;
  void add_gradients(const float* x, const float* dy, std::int64_t begin, std::int64_t end,
                     float* to) const;

  const Dims dims_;
  const bool multiplies_, trained_;
  std::int64_t rows_ = 0, columns_ = 0;
  Runs runs_;
};

LayerPlan JoinedParameter::plan(const LayerSetup& setup) {
  const auto d = setup.inputs[0].dims.values();
  const Dims row(
      std::vector<std::int64_t>(d.end() - static_cast<std::ptrdiff_t>(dims_.rank()), d.end()));
  columns_ = row.elements();
  rows_ = setup.inputs[0].dims.elements() / columns_;
  runs_ = Runs(row, dims_);
  LayerPlan plan;
  plan.inputs = {Lifespan::kForward};
  if (multiplies_ && setup.train_weight[0]) plan.inputs[0] |= Lifespan::kComputeGradient;
  plan.outputs = {Lifespan::kNone};
  plan.weights = multiplies_ ? Lifespan::kComputeDerivative : Lifespan::kNone;
  plan.updates_statistics = false;
  plan.gradient_workspace = row_sums_workspace(rows_, columns_, dims_.elements());
  plan.in_place = InPlace::kModify;
  plan.derivative_in_place = multiplies_ ? InPlace::kModify : InPlace::kSameData;
  return plan;
}

// Rows [begin, end) with the weight.
void JoinedParameter::join(const float* x, const float* weight, float* y, std::int64_t begin,
                           std::int64_t end) const {
  if (runs_.are_rows()) {
    if (multiplies_) return multiply_channels(x, weight, y, columns_, begin, end);
    return add_row(x, weight, y, columns_, begin, end);
  }
  std::int64_t at = begin * columns_;
  for (std::int64_t r = begin; r < end; ++r) {
    for (const std::int64_t w : runs_.begins) {
      if (runs_.one && multiplies_)
        scale_shift(x, weight[w], 0, y, at, at + runs_.length);
      else if (runs_.one)
        scale_shift(x, 1, weight[w], y, at, at + runs_.length);
      else if (multiplies_)
        multiply_channels(x + at, weight + w, y + at, runs_.length, 0, 1);
      else
        add_row(x + at, weight + w, y + at, runs_.length, 0, 1);
      at += runs_.length;
    }
  }
}

void JoinedParameter::forward(const LayerRun& run) {
  parallel_for(rows_, grain(), [&](std::int64_t begin, std::int64_t end) {
    join(run.inputs[0], run.weights[0], run.outputs[0], begin, end);
  });
}

// Adds those of rows [begin, end).
void JoinedParameter::add_gradients(const float* x, const float* dy, std::int64_t begin,
                                    std::int64_t end, float* to) const {
  if (runs_.are_rows() && multiplies_) return add_products(x, dy, to, columns_, begin, end);
  std::int64_t at = begin * columns_;
  for (std::int64_t r = begin; r < end; ++r) {
    for (const std::int64_t w : runs_.begins) {
      if (runs_.one) {
        double sum = 0;
        for (std::int64_t i = at; i < at + runs_.length; ++i)
          sum += static_cast<double>(multiplies_ ? x[i] * dy[i] : dy[i]);
        to[w] += static_cast<float>(sum);
      } else if (multiplies_) {
        add_products(x + at, dy + at, to + w, runs_.length, 0, 1);
      } else {
        const std::array<const float*, 2> terms = {to + w, dy + at};
        add_all(terms, to + w, 0, runs_.length);
      }
      at += runs_.length;
    }
  }
}

void JoinedParameter::compute_gradient(const LayerRun& run) {
  const std::int64_t width = dims_.elements();
  const float* sums = sum_rows(
      rows_, columns_, width, run.workspace, [&](std::int64_t begin, std::int64_t end, float* to) {
        add_gradients(run.inputs[0], run.output_derivatives[0], begin, end, to);
      });
  store_sums(sums, width, run.adds(0), run.gradients[0]);
}

void JoinedParameter::compute_derivative(const LayerRun& run) {
  const float* dy = run.output_derivatives[0];
  float* dx = run.input_derivatives[0];
  parallel_for(rows_, grain(), [&](std::int64_t begin, std::int64_t end) {
    if (multiplies_)
      join(dy, run.weights[0], dx, begin, end);
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
    if (!run.adds(0)) std::fill(gradient, gradient + own_, 0.0F);
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
  const bool trained = reader.flag("trained", true);
  reader.done();
  return std::make_unique<JoinedParameter>(std::move(dims), multiplies, trained);
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
