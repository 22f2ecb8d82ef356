#include "engine/kernels/rows/loss.h"

#include <algorithm>

#include "engine/kernels/simd/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/rows/loss.cc"
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

// A target that is NaN is none.
template <class D, class V>
HWY_INLINE V where_known(D d, V target, V value) {
  return hn::IfThenElse(hn::IsNaN(target), hn::Zero(d), value);
}

// max(x, 0) - x t + log(1 + e^-|x|).
struct LogisticLoss {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V target) const {
    const V tail = hn::Log1p(d, hn::Exp(d, hn::Neg(hn::Abs(x))));
    return where_known(d, target,
                       hn::Add(hn::NegMulAdd(x, target, at_least(x, hn::Zero(d))), tail));
  }
};

struct SquaredError {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V target) const {
    const V e = hn::Sub(x, target);
    return where_known(d, target, hn::Mul(e, e));
  }
};

// Half the square up to delta, a line from there on.
struct HuberError {
  float delta;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V target) const {
    const V size = hn::Abs(hn::Sub(x, target)), most = hn::Set(d, delta);
    const V inner = at_most(size, most);  // delta * (size - delta / 2) beyond delta
    return where_known(
        d, target,
        hn::MulAdd(hn::Mul(hn::Set(d, 0.5F), inner), inner, hn::Mul(most, hn::Sub(size, inner))));
  }
};

struct HuberSlope {
  float delta, scale;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V target) const {
    const V most = hn::Set(d, delta);
    const V slope = at_most(at_least(hn::Sub(x, target), hn::Neg(most)), most);
    return where_known(d, target, hn::Mul(hn::Set(d, scale), slope));
  }
};

struct LogisticSlope {
  float scale;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V target) const {
    return where_known(d, target, hn::Mul(hn::Set(d, scale), hn::Sub(logistic(d, x), target)));
  }
};

struct Difference {
  float scale;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V target) const {
    return where_known(d, target, hn::Mul(hn::Set(d, scale), hn::Sub(x, target)));
  }
};

// fp32 sums run over blocks only; the blocks are added up in double.
template <class F>
double blockwise(const float* x, const float* target, std::int64_t begin, std::int64_t end,
                 const F& f) {
  constexpr std::int64_t kBlock = 4096;
  double total = 0;
  for (std::int64_t i = begin; i < end; i += kBlock)
    total += static_cast<double>(sum(i, std::min(end, i + kBlock), f, x, target));
  return total;
}

double logistic_loss(const float* x, const float* target, std::int64_t begin, std::int64_t end) {
  return blockwise(x, target, begin, end, LogisticLoss());
}

void logistic_slope(const float* x, const float* target, float* dx, float scale, std::int64_t begin,
                    std::int64_t end) {
  map(dx, begin, end, LogisticSlope{scale}, x, target);
}

double square_loss(const float* x, const float* target, std::int64_t begin, std::int64_t end) {
  return blockwise(x, target, begin, end, SquaredError());
}

void square_slope(const float* x, const float* target, float* dx, float scale, std::int64_t begin,
                  std::int64_t end) {
  map(dx, begin, end, Difference{scale}, x, target);
}

double huber_loss(const float* x, const float* target, float delta, std::int64_t begin,
                  std::int64_t end) {
  return blockwise(x, target, begin, end, HuberError{delta});
}

void huber_slope(const float* x, const float* target, float* dx, float delta, float scale,
                 std::int64_t begin, std::int64_t end) {
  map(dx, begin, end, HuberSlope{delta, scale}, x, target);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moil {

HWY_EXPORT(logistic_loss);
HWY_EXPORT(logistic_slope);
HWY_EXPORT(square_loss);
HWY_EXPORT(square_slope);
HWY_EXPORT(huber_loss);
HWY_EXPORT(huber_slope);

double sigmoid_cross_entropy(const float* x, const float* target, std::int64_t begin,
                             std::int64_t end) {
  return HWY_DYNAMIC_DISPATCH(logistic_loss)(x, target, begin, end);
}

void sigmoid_cross_entropy_derivative(const float* x, const float* target, float* dx, float scale,
                                      std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(logistic_slope)(x, target, dx, scale, begin, end);
}

double squared_error(const float* x, const float* target, std::int64_t begin, std::int64_t end) {
  return HWY_DYNAMIC_DISPATCH(square_loss)(x, target, begin, end);
}

void squared_error_derivative(const float* x, const float* target, float* dx, float scale,
                              std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(square_slope)(x, target, dx, scale, begin, end);
}

double huber_error(const float* x, const float* target, float delta, std::int64_t begin,
                   std::int64_t end) {
  return HWY_DYNAMIC_DISPATCH(huber_loss)(x, target, delta, begin, end);
}

void huber_error_derivative(const float* x, const float* target, float* dx, float delta,
                            float scale, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(huber_slope)(x, target, dx, delta, scale, begin, end);
}

}  // namespace moil
#endif  // HWY_ONCE
