// Element-wise functions with numbers of their own, which are not trained:
//   "scale"       y = factor x + offset; properties factor (1), offset (0)
//   "clip"        y = min(max(x, min), max); properties min and max, either may be left out
//   "reciprocal"  y = 1 / x; no properties
//   "exp", "log"  y = e^x, the natural logarithm of x; no properties
//   "power"       y = x^exponent; property exponent (2)
// They take any shape, in place if nobody else reads the input.
#include "engine/kernels/rows/pointwise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

// What all of them share; `saved`: what CD reads besides the output's derivative.
class Pointwise : public Layer {
 public:
  enum class Saved { kNothing, kInput, kOutput };
  explicit Pointwise(Saved saved) : saved_(saved) {}

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    return {inputs[0]};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    elements_ = setup.inputs[0].dims.elements();
    LayerPlan plan;
    plan.inputs = {Lifespan::kForward};
    plan.outputs = {Lifespan::kNone};
    if (saved_ == Saved::kInput) plan.inputs[0] |= Lifespan::kComputeDerivative;
    if (saved_ == Saved::kOutput) plan.outputs[0] = Lifespan::kComputeDerivative;
    plan.output_derivatives = Lifespan::kComputeDerivative;
    plan.in_place = plan.derivative_in_place = InPlace::kModify;
    return plan;
  }

  void forward(const LayerRun& run) override {
    parallel_for(elements_, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      value(run.inputs[0], run.outputs[0], begin, end);
    });
  }

  void compute_derivative(const LayerRun& run) override {
    const float* saved = saved_ == Saved::kOutput ? run.outputs[0] : run.inputs[0];
    parallel_for(elements_, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      derivative(saved, run.output_derivatives[0], run.input_derivatives[0], begin, end);
    });
  }

 private:
  virtual void value(const float* in, float* out, std::int64_t begin, std::int64_t end) const = 0;
  virtual void derivative(const float* saved, const float* dy, float* dx, std::int64_t begin,
                          std::int64_t end) const = 0;

  const Saved saved_;
  std::int64_t elements_ = 0;
};

class Scale final : public Pointwise {
 public:
  Scale(float factor, float offset)
      : Pointwise(Saved::kNothing), factor_(factor), offset_(offset) {}
  std::string_view type() const override { return "scale"; }

 private:
  void value(const float* in, float* out, std::int64_t begin, std::int64_t end) const override {
    scale_shift(in, factor_, offset_, out, begin, end);
  }
  void derivative(const float*, const float* dy, float* dx, std::int64_t begin,
                  std::int64_t end) const override {
    scale_shift(dy, factor_, 0, dx, begin, end);
  }

  const float factor_, offset_;
};

class Clip final : public Pointwise {
 public:
  Clip(float least, float most) : Pointwise(Saved::kInput), least_(least), most_(most) {}
  std::string_view type() const override { return "clip"; }

 private:
  void value(const float* in, float* out, std::int64_t begin, std::int64_t end) const override {
    clamp(in, least_, most_, out, begin, end);
  }
  void derivative(const float* x, const float* dy, float* dx, std::int64_t begin,
                  std::int64_t end) const override {
    clamp_derivative(x, least_, most_, dy, dx, begin, end);
  }

  const float least_, most_;
};

class Reciprocal final : public Pointwise {
 public:
  Reciprocal() : Pointwise(Saved::kOutput) {}
  std::string_view type() const override { return "reciprocal"; }

 private:
  void value(const float* in, float* out, std::int64_t begin, std::int64_t end) const override {
    reciprocal(in, out, begin, end);
  }
  void derivative(const float* y, const float* dy, float* dx, std::int64_t begin,
                  std::int64_t end) const override {
    reciprocal_derivative(y, dy, dx, begin, end);
  }
};

// Few models have these, on few numbers: the C library's functions are fast enough.
class Exponential final : public Pointwise {
 public:
  Exponential() : Pointwise(Saved::kOutput) {}
  std::string_view type() const override { return "exp"; }

 private:
  void value(const float* in, float* out, std::int64_t begin, std::int64_t end) const override {
    std::transform(in + begin, in + end, out + begin, [](float x) { return std::exp(x); });
  }
  void derivative(const float* y, const float* dy, float* dx, std::int64_t begin,
                  std::int64_t end) const override {
    multiply(y, dy, dx, begin, end);
  }
};

class Logarithm final : public Pointwise {
 public:
  Logarithm() : Pointwise(Saved::kInput) {}
  std::string_view type() const override { return "log"; }

 private:
  void value(const float* in, float* out, std::int64_t begin, std::int64_t end) const override {
    std::transform(in + begin, in + end, out + begin, [](float x) { return std::log(x); });
  }
  void derivative(const float* x, const float* dy, float* dx, std::int64_t begin,
                  std::int64_t end) const override {
    for (std::int64_t i = begin; i < end; ++i) dx[i] = dy[i] / x[i];
  }
};

class Power final : public Pointwise {
 public:
  explicit Power(float exponent) : Pointwise(Saved::kInput), exponent_(exponent) {}
  std::string_view type() const override { return "power"; }

 private:
  void value(const float* in, float* out, std::int64_t begin, std::int64_t end) const override {
    for (std::int64_t i = begin; i < end; ++i) out[i] = std::pow(in[i], exponent_);
  }
  void derivative(const float* x, const float* dy, float* dx, std::int64_t begin,
                  std::int64_t end) const override {
    for (std::int64_t i = begin; i < end; ++i)
      dx[i] = dy[i] * exponent_ * std::pow(x[i], exponent_ - 1);
  }

  const float exponent_;
};

template <class L>
std::unique_ptr<Layer> make_without_numbers(const std::string& name, const Properties& properties) {
  PropertyReader(name, properties).done();
  return std::make_unique<L>();
}

}  // namespace

std::unique_ptr<Layer> make_scale(const std::string& name, const Properties& properties) {
  PropertyReader reader(name, properties);
  const double factor = reader.number("factor", 1), offset = reader.number("offset", 0);
  reader.done();
  return std::make_unique<Scale>(static_cast<float>(factor), static_cast<float>(offset));
}

std::unique_ptr<Layer> make_clip(const std::string& name, const Properties& properties) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  PropertyReader reader(name, properties);
  const double least = reader.number("min", -kNone), most = reader.number("max", kNone);
  reader.done();
  if (!(least <= most)) {
    throw Error(ErrorCode::kInvalidArgument,
                "layer \"" + name + "\": property \"min\" must not be above \"max\"");
  }
  return std::make_unique<Clip>(static_cast<float>(least), static_cast<float>(most));
}

std::unique_ptr<Layer> make_reciprocal(const std::string& name, const Properties& properties) {
  return make_without_numbers<Reciprocal>(name, properties);
}

std::unique_ptr<Layer> make_exp(const std::string& name, const Properties& properties) {
  return make_without_numbers<Exponential>(name, properties);
}

std::unique_ptr<Layer> make_log(const std::string& name, const Properties& properties) {
  return make_without_numbers<Logarithm>(name, properties);
}

std::unique_ptr<Layer> make_power(const std::string& name, const Properties& properties) {
  PropertyReader reader(name, properties);
  const double exponent = reader.number("exponent", 2);
  reader.done();
  return std::make_unique<Power>(static_cast<float>(exponent));
}

}  // namespace moil
