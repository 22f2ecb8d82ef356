// Logistic and error functions on vectors, beside Highway's own exp, log1p and tanh. All are safe
// for every finite argument.
#if defined(MOIL_ENGINE_KERNELS_TRANSCENDENTAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MOIL_ENGINE_KERNELS_TRANSCENDENTAL_INL_H_
#undef MOIL_ENGINE_KERNELS_TRANSCENDENTAL_INL_H_
#else
#define MOIL_ENGINE_KERNELS_TRANSCENDENTAL_INL_H_
#endif

#include "engine/kernels/simd/clamp-inl.h"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// e^x that lets a NaN through; Highway's gives 0.
template <class D, class V>
HWY_INLINE V exponential(D d, V x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, x));
}

// 1 / (1 + e^-x), from e^-|x|, which cannot overflow.
template <class D, class V>
HWY_INLINE V logistic(D d, V x) {
  const V one = hn::Set(d, 1.0F);
  const V e = exponential(d, hn::Neg(hn::Abs(x)));
  const V numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
  return hn::Div(numerator, hn::Add(one, e));
}

// A rational function x P(x^2) / Q(x^2) on [-4, 4], where erf in fp32 reaches 1; a few units in the
// last place.
template <class D, class V>
HWY_INLINE V error_function(D d, V x) {
  x = at_most(at_least(x, hn::Set(d, -4.0F)), hn::Set(d, 4.0F));
  const V x2 = hn::Mul(x, x);
  V p = hn::Set(d, -2.72614225801306e-10F);
  p = hn::MulAdd(p, x2, hn::Set(d, 2.77068142495902e-08F));
  p = hn::MulAdd(p, x2, hn::Set(d, -2.10102402082508e-06F));
  p = hn::MulAdd(p, x2, hn::Set(d, -5.69250639462346e-05F));
  p = hn::MulAdd(p, x2, hn::Set(d, -7.34990630326855e-04F));
  p = hn::MulAdd(p, x2, hn::Set(d, -2.95459980854025e-03F));
  p = hn::MulAdd(p, x2, hn::Set(d, -1.60960333262415e-02F));
  V q = hn::Set(d, -1.45660718464996e-05F);
  q = hn::MulAdd(q, x2, hn::Set(d, -2.13374055278905e-04F));
  q = hn::MulAdd(q, x2, hn::Set(d, -1.68282697438203e-03F));
  q = hn::MulAdd(q, x2, hn::Set(d, -7.37332916720468e-03F));
  q = hn::MulAdd(q, x2, hn::Set(d, -1.42647390514189e-02F));
  return hn::Div(hn::Mul(x, p), q);
}

}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
