#include <optional>

#include "engine/opencl/step.h"

namespace moil::opencl {
namespace {

// The numbers are those of ActivationKind. Comparisons let a NaN through.
constexpr const char* kActivationSource = R"CL(
float logistic(float x) { return 1.0f / (1.0f + exp(-x)); }
float at_least_zero(float x) { return x < 0.0f ? 0.0f : x; }
float at_most_six(float x) { return x > 6.0f ? 6.0f : x; }
float hard_sigmoid(float x) { return at_most_six(at_least_zero(x + 3.0f)) * (1.0f / 6.0f); }
float mish_share(float x) {
  const float e = exp(-fabs(x));
  const float numerator = 2.0f * e + (x < 0.0f ? e * e : 1.0f);
  return numerator / (numerator + 2.0f * (x < 0.0f ? 1.0f : e * e));
}
float tanh_share(float x) { return logistic(x * (1.59576912161f + 0.07135481627f * x * x)); }
float normal_share(float x) { return 0.5f * erf(x * 0.70710678118654752f) + 0.5f; }

kernel void activate(global const float* in, global float* out, int kind, float below,
                     int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  const float x = in[i];
  float y = 0;
  switch (kind) {
    case 0: y = at_least_zero(x); break;
    case 1: y = at_most_six(at_least_zero(x)); break;
    case 2: y = x > 0.0f ? x : x * below; break;
    case 3: y = logistic(x); break;
    case 4: y = tanh(x); break;
    case 5: y = hard_sigmoid(x); break;
    case 6: y = x * hard_sigmoid(x); break;
    case 7: y = x * logistic(x); break;
    case 8: y = x * normal_share(x); break;
    case 9: y = x < 0.0f ? below * expm1(x) : x; break;
    case 10: y = at_least_zero(x) + log1p(exp(-fabs(x))); break;
    case 11: y = x * mish_share(x); break;
    case 12: y = x * tanh_share(x); break;
  }
  out[i] = y;
}

kernel void activation_derivative(global const float* saved, global const float* dy,
                                  global float* dx, int kind, float below, int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  const float s = saved[i];
  float slope = 0;
  switch (kind) {
    case 0: slope = s > 0.0f ? 1.0f : 0.0f; break;
    case 1: slope = s > 0.0f && s < 6.0f ? 1.0f : 0.0f; break;
    case 2: slope = s > 0.0f ? 1.0f : below; break;
    case 3: slope = s * (1.0f - s); break;
    case 4: slope = 1.0f - s * s; break;
    case 5: slope = s > 0.0f && s < 1.0f ? 1.0f / 6.0f : 0.0f; break;
    case 6: slope = s < -3.0f ? 0.0f : s > 3.0f ? 1.0f : s * (1.0f / 3.0f) + 0.5f; break;
    case 7: {
      const float l = logistic(s);
      slope = l * (s * (1.0f - l) + 1.0f);
      break;
    }
    case 8: slope = s * (exp(s * s * -0.5f) * 0.39894228040143268f) + normal_share(s); break;
    case 9: slope = s > 0.0f ? 1.0f : s + below; break;
    case 10: slope = -expm1(-s); break;
    case 11: {
      const float t = mish_share(s);
      slope = t + s * (1.0f - t * t) * logistic(s);
      break;
    }
    case 12: {
      const float x = fmin(fmax(s, -100.0f), 100.0f), t = tanh_share(x);
      slope = t + x * t * (1.0f - t) * (1.59576912161f + 0.2140644488f * x * x);
      break;
    }
  }
  dx[i] = dy[i] * slope;
}
)CL";
static_assert(static_cast<int>(ActivationKind::kRelu) == 0 &&
              static_cast<int>(ActivationKind::kHardSigmoid) == 5 &&
              static_cast<int>(ActivationKind::kGelu) == 8 &&
              static_cast<int>(ActivationKind::kGeluTanh) == 12 && kActivationKinds.size() == 13);

class Activation final : public StepOf<operation::Activation> {
 public:
  Activation(Device& device, const operation::Activation& op, StepKind kind)
      : StepOf(device, op, kind),
        kernel_(device, kActivationSource,
                kind == StepKind::kForward ? "activate" : "activation_derivative") {}

 private:
  void forward(const RangeMemory& memory, const StepRanges& r) override {
    kernel_.run(op_.elements, memory.buffer(r.inputs[0]), memory.buffer(r.outputs[0]),
                static_cast<cl_int>(op_.kind), op_.slope);
  }
  void derivative(const RangeMemory& memory, const StepRanges& r) override {
    const RangeId saved = derivative_from_output(op_.kind) ? r.outputs[0] : r.inputs[0];
    kernel_.run(op_.elements, memory.buffer(saved), memory.buffer(r.output_derivatives[0]),
                memory.buffer(r.input_derivatives[0]), static_cast<cl_int>(op_.kind), op_.slope);
  }

  Kernel kernel_;
};

}  // namespace

Step make_step(Device& device, const operation::Activation& op, StepKind kind) {
  return std::make_unique<Activation>(device, op, kind);
}

}  // namespace moil::opencl
