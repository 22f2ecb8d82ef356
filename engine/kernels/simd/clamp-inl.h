// Limits that let a NaN through, whatever the instruction set: a diverged network must not look
// well. Highway's Min, Max and Clamp do not: on x86 the second operand wins, on ARM the number.
// Compiled once a target; see simd-inl.h.
#if defined(MOIL_ENGINE_KERNELS_CLAMP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MOIL_ENGINE_KERNELS_CLAMP_INL_H_
#undef MOIL_ENGINE_KERNELS_CLAMP_INL_H_
#else
#define MOIL_ENGINE_KERNELS_CLAMP_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {

template <class V>
HWY_INLINE V at_least(V x, V low) {
  namespace hn = hwy::HWY_NAMESPACE;
  return hn::IfThenElse(hn::Lt(x, low), low, x);
}

template <class V>
HWY_INLINE V at_most(V x, V high) {
  namespace hn = hwy::HWY_NAMESPACE;
  return hn::IfThenElse(hn::Gt(x, high), high, x);
}

}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
