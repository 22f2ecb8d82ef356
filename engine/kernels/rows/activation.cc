#include "engine/kernels/rows/activation.h"

#include "engine/kernels/simd/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/rows/activation.cc"
#include "hwy/foreach_target.h"
//
#include "engine/kernels/simd/clamp-inl.h"
#include "engine/kernels/simd/simd-inl.h"
#include "engine/kernels/simd/transcendental-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {
namespace {

// Each activation: value(d, x), and slope(d, s) from what is saved (see derivative_from_output).
struct Relu {
  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    return at_least(x, hn::Zero(d));
  }
  template <class D, class V>
  HWY_INLINE V slope(D d, V y) const {
    return hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), hn::Set(d, 1.0F));
  }
};

struct Relu6 {
  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    return at_most(at_least(x, hn::Zero(d)), hn::Set(d, 6.0F));
  }
  template <class D, class V>
  HWY_INLINE V slope(D d, V y) const {
    const auto inside = hn::And(hn::Gt(y, hn::Zero(d)), hn::Lt(y, hn::Set(d, 6.0F)));
    return hn::IfThenElseZero(inside, hn::Set(d, 1.0F));
  }
};

struct LeakyRelu {
  float below;
  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(x, hn::Set(d, below)));
  }
  template <class D, class V>
  HWY_INLINE V slope(D d, V y) const {
    return hn::IfThenElse(hn::Gt(y, hn::Zero(d)), hn::Set(d, 1.0F), hn::Set(d, below));
  }
};

struct Sigmoid {
  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    return logistic(d, x);
  }
  template <class D, class V>
  HWY_INLINE V slope(D d, V y) const {
    return hn::Mul(y, hn::Sub(hn::Set(d, 1.0F), y));
  }
};

struct HyperbolicTangent {
  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    return hn::Tanh(d, x);
  }
  template <class D, class V>
  HWY_INLINE V slope(D d, V y) const {
    return hn::NegMulAdd(y, y, hn::Set(d, 1.0F));
  }
};

struct HardSigmoid {
  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    const V raised = at_least(hn::Add(x, hn::Set(d, 3.0F)), hn::Zero(d));
    return hn::Mul(at_most(raised, hn::Set(d, 6.0F)), hn::Set(d, 1.0F / 6));
  }
  template <class D, class V>
  HWY_INLINE V slope(D d, V y) const {
    const auto inside = hn::And(hn::Gt(y, hn::Zero(d)), hn::Lt(y, hn::Set(d, 1.0F)));
    return hn::IfThenElseZero(inside, hn::Set(d, 1.0F / 6));
  }
};

struct HardSwish {
  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    return hn::Mul(x, HardSigmoid().value(d, x));
  }
  template <class D, class V>
  HWY_INLINE V slope(D d, V x) const {
    const V middle = hn::MulAdd(x, hn::Set(d, 1.0F / 3), hn::Set(d, 0.5F));
    const V upper = hn::IfThenElse(hn::Gt(x, hn::Set(d, 3.0F)), hn::Set(d, 1.0F), middle);
    return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -3.0F)), upper);
  }
};

struct Silu {
  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    return hn::Mul(x, logistic(d, x));
  }
  template <class D, class V>
  HWY_INLINE V slope(D d, V x) const {
    const V one = hn::Set(d, 1.0F);
    const V s = logistic(d, x);
    return hn::Mul(s, hn::MulAdd(x, hn::Sub(one, s), one));
  }
};

struct Gelu {
  template <class D, class V>
  HWY_INLINE V share(D d, V x) const {  // the normal distribution function
    const V half = hn::Set(d, 0.5F);
    return hn::MulAdd(half, error_function(d, hn::Mul(x, hn::Set(d, 0.70710678118654752F))), half);
  }
  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    return hn::Mul(x, share(d, x));
  }
  template <class D, class V>
  HWY_INLINE V slope(D d, V x) const {
    const V bell = hn::Exp(d, hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5F)));
    return hn::MulAdd(x, hn::Mul(bell, hn::Set(d, 0.39894228040143268F)), share(d, x));
  }
};

struct Elu {
  float below;
  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    const V low = hn::Mul(hn::Set(d, below), hn::Expm1(d, x));
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), low, x);
  }
  template <class D, class V>
  HWY_INLINE V slope(D d, V y) const {
    return hn::IfThenElse(hn::Gt(y, hn::Zero(d)), hn::Set(d, 1.0F), hn::Add(y, hn::Set(d, below)));
  }
};

// From e^-|x|, which cannot overflow.
struct Softplus {
  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    const V e = exponential(d, hn::Neg(hn::Abs(x)));
    return hn::Add(at_least(x, hn::Zero(d)), hn::Log1p(d, e));
  }
  template <class D, class V>
  HWY_INLINE V slope(D d, V y) const {
    return hn::Neg(hn::Expm1(d, hn::Neg(y)));
  }
};

struct Mish {
  // tanh(log(1 + e^x)) as a quotient of e^-|x|.
  template <class D, class V>
  HWY_INLINE V share(D d, V x) const {
    const V one = hn::Set(d, 1.0F), two = hn::Set(d, 2.0F);
    const V e = exponential(d, hn::Neg(hn::Abs(x)));
    const V square = hn::Mul(e, e), twice = hn::Mul(two, e);
    const auto below = hn::Lt(x, hn::Zero(d));
    const V numerator = hn::Add(twice, hn::IfThenElse(below, square, one));
    const V rest = hn::IfThenElse(below, two, hn::Mul(two, square));
    return hn::Div(numerator, hn::Add(numerator, rest));
  }
  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    return hn::Mul(x, share(d, x));
  }
  template <class D, class V>
  HWY_INLINE V slope(D d, V x) const {
    const V t = share(d, x);
    const V steep = hn::Mul(hn::NegMulAdd(t, t, hn::Set(d, 1.0F)), logistic(d, x));
    return hn::MulAdd(x, steep, t);
  }
};

struct GeluTanh {
  // (1 + tanh u) / 2 is the logistic function of 2u.
  template <class D, class V>
  HWY_INLINE V share(D d, V x) const {
    const V cubic =
        hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.07135481627F), hn::Set(d, 1.59576912161F));
    return logistic(d, hn::Mul(x, cubic));
  }
  template <class D, class V>
  HWY_INLINE V value(D d, V x) const {
    return hn::Mul(x, share(d, x));
  }
  template <class D, class V>
  HWY_INLINE V slope(D d, V x) const {
    const V far = hn::Set(d, 100.0F);  // beyond, the share is 0 or 1 and the rest would overflow
    x = at_most(at_least(x, hn::Neg(far)), far);
    const V s = share(d, x);
    const V cubic =
        hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.2140644488F), hn::Set(d, 1.59576912161F));
    const V steep = hn::Mul(hn::Mul(s, hn::Sub(hn::Set(d, 1.0F), s)), cubic);
    return hn::MulAdd(x, steep, s);
  }
};

template <class A>
struct Value {
  A activation;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return activation.value(d, x);
  }
};

template <class A>
struct Derivative {
  A activation;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V saved, V dy) const {
    return hn::Mul(dy, activation.slope(d, saved));
  }
};

template <class F>
void with_activation(ActivationKind kind, float slope, const F& f) {
  switch (kind) {
    case ActivationKind::kRelu:
      return f(Relu());
    case ActivationKind::kRelu6:
      return f(Relu6());
    case ActivationKind::kLeakyRelu:
      return f(LeakyRelu{slope});
    case ActivationKind::kSigmoid:
      return f(Sigmoid());
    case ActivationKind::kTanh:
      return f(HyperbolicTangent());
    case ActivationKind::kHardSigmoid:
      return f(HardSigmoid());
    case ActivationKind::kHardSwish:
      return f(HardSwish());
    case ActivationKind::kSilu:
      return f(Silu());
    case ActivationKind::kGelu:
      return f(Gelu());
    case ActivationKind::kElu:
      return f(Elu{slope});
    case ActivationKind::kSoftplus:
      return f(Softplus());
    case ActivationKind::kMish:
      return f(Mish());
    case ActivationKind::kGeluTanh:
      return f(GeluTanh());
  }
}

void activate_range(ActivationKind kind, float slope, const float* in, float* out,
                    std::int64_t begin, std::int64_t end) {
  with_activation(kind, slope, [&](auto activation) HWY_ATTR {
    map(out, begin, end, Value<decltype(activation)>{activation}, in);
  });
}

void derivative_range(ActivationKind kind, float slope, const float* saved, const float* dy,
                      float* dx, std::int64_t begin, std::int64_t end) {
  with_activation(kind, slope, [&](auto activation) HWY_ATTR {
    map(dx, begin, end, Derivative<decltype(activation)>{activation}, saved, dy);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moil {

HWY_EXPORT(activate_range);
HWY_EXPORT(derivative_range);

std::string_view to_string(ActivationKind kind) {
  switch (kind) {
    case ActivationKind::kRelu:
      return "relu";
    case ActivationKind::kRelu6:
      return "relu6";
    case ActivationKind::kLeakyRelu:
      return "leaky_relu";
    case ActivationKind::kSigmoid:
      return "sigmoid";
    case ActivationKind::kTanh:
      return "tanh";
    case ActivationKind::kHardSigmoid:
      return "hard_sigmoid";
    case ActivationKind::kHardSwish:
      return "hard_swish";
    case ActivationKind::kSilu:
      return "silu";
    case ActivationKind::kGelu:
      return "gelu";
    case ActivationKind::kElu:
      return "elu";
    case ActivationKind::kSoftplus:
      return "softplus";
    case ActivationKind::kMish:
      return "mish";
    case ActivationKind::kGeluTanh:
      return "gelu_tanh";
  }
  return "?";
}

// The others are not monotonic: two inputs share an output.
bool derivative_from_output(ActivationKind kind) {
  switch (kind) {
    case ActivationKind::kHardSwish:
    case ActivationKind::kSilu:
    case ActivationKind::kGelu:
    case ActivationKind::kMish:
    case ActivationKind::kGeluTanh:
      return false;
    default:
      return true;
  }
}

void activate(ActivationKind kind, float slope, const float* in, float* out, std::int64_t begin,
              std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(activate_range)(kind, slope, in, out, begin, end);
}

void activation_derivative(ActivationKind kind, float slope, const float* saved, const float* dy,
                           float* dx, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(derivative_range)(kind, slope, saved, dy, dx, begin, end);
}

}  // namespace moil
#endif  // HWY_ONCE
