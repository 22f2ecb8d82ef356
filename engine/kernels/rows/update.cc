#include "engine/kernels/rows/update.h"

#include "engine/kernels/simd/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/rows/update.cc"
#include "hwy/foreach_target.h"
//
#include "engine/kernels/simd/simd-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {
namespace {

template <class D, class V>
HWY_INLINE V decayed_gradient(D d, V w, V g, float gradient_scale, float decay) {
  return hn::MulAdd(w, hn::Set(d, decay), hn::Mul(g, hn::Set(d, gradient_scale)));
}

template <class D, class V>
HWY_INLINE V moved(D d, V w, V direction, float shrink, float rate) {
  return hn::NegMulAdd(direction, hn::Set(d, rate), hn::Mul(w, hn::Set(d, shrink)));
}

template <class D>
HWY_INLINE void sgd_vector(D d, const SgdCoefficients& k, float* weight, const float* gradient,
                           float* m) {
  const auto w = hn::LoadU(d, weight);
  auto g = decayed_gradient(d, w, hn::LoadU(d, gradient), k.gradient_scale, k.decay);
  if (m) {
    const auto momentum = hn::Set(d, k.momentum);
    const auto next = hn::MulAdd(hn::LoadU(d, m), momentum, g);
    hn::StoreU(next, d, m);
    g = k.nesterov ? hn::MulAdd(next, momentum, g) : next;
  }
  hn::StoreU(moved(d, w, g, k.shrink, k.rate), d, weight);
}

template <class D>
HWY_INLINE void adam_vector(D d, const AdamCoefficients& k, float* weight, const float* gradient,
                            float* m, float* v) {
  const auto w = hn::LoadU(d, weight);
  const auto g = decayed_gradient(d, w, hn::LoadU(d, gradient), k.gradient_scale, k.decay);
  const auto first =
      hn::MulAdd(hn::LoadU(d, m), hn::Set(d, k.beta1), hn::Mul(g, hn::Set(d, k.rest1)));
  const auto second =
      hn::MulAdd(hn::LoadU(d, v), hn::Set(d, k.beta2), hn::Mul(hn::Mul(g, g), hn::Set(d, k.rest2)));
  hn::StoreU(first, d, m);
  hn::StoreU(second, d, v);
  const auto divisor =
      hn::MulAdd(hn::Sqrt(second), hn::Set(d, k.root_scale), hn::Set(d, k.epsilon));
  hn::StoreU(moved(d, w, hn::Div(first, divisor), k.shrink, k.rate), d, weight);
}

void sgd_range(const SgdCoefficients& k, float* weight, const float* gradient, float* m,
               std::int64_t begin, std::int64_t end) {
  for_columns(end - begin, [&](auto d, std::int64_t c) HWY_ATTR {
    const std::int64_t i = begin + c;
    sgd_vector(d, k, weight + i, gradient + i, m ? m + i : nullptr);
  });
}

void adam_range(const AdamCoefficients& k, float* weight, const float* gradient, float* m, float* v,
                std::int64_t begin, std::int64_t end) {
  for_columns(end - begin, [&](auto d, std::int64_t c) HWY_ATTR {
    const std::int64_t i = begin + c;
    adam_vector(d, k, weight + i, gradient + i, m + i, v + i);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moil {

HWY_EXPORT(sgd_range);
HWY_EXPORT(adam_range);

void sgd_update(const SgdCoefficients& k, float* weight, const float* gradient, float* m,
                std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(sgd_range)(k, weight, gradient, m, begin, end);
}

void adam_update(const AdamCoefficients& k, float* weight, const float* gradient, float* m,
                 float* v, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(adam_range)(k, weight, gradient, m, v, begin, end);
}

}  // namespace moil
#endif  // HWY_ONCE
