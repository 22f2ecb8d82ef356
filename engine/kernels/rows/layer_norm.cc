#include "engine/kernels/rows/layer_norm.h"

#include <cmath>

#include "engine/kernels/simd/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/rows/layer_norm.cc"
#include "hwy/foreach_target.h"
//
#include "engine/kernels/simd/simd-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {
namespace {

struct Same {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return x;
  }
};

struct SquareFrom {
  float mean;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V centred = hn::Sub(x, hn::Set(d, mean));
    return hn::Mul(centred, centred);
  }
};

struct Normalised {
  float mean, inverse;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(hn::Sub(x, hn::Set(d, mean)), hn::Set(d, inverse));
  }
};

struct Scaled {
  Normalised normalised;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V gamma, V beta) const {
    return hn::MulAdd(normalised(d, x), gamma, beta);
  }
};

struct Product {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};

struct ProductWithNormalised {
  Normalised normalised;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V dy, V gamma, V x) const {
    return hn::Mul(hn::Mul(dy, gamma), normalised(d, x));
  }
};

struct Slope {
  Normalised normalised;
  float mean, along;  // of g, and of g times the normalised
  template <class D, class V>
  HWY_INLINE V operator()(D d, V dy, V gamma, V x) const {
    const V g = hn::Sub(hn::Mul(dy, gamma), hn::Set(d, mean));
    const V rest = hn::NegMulAdd(normalised(d, x), hn::Set(d, along), g);
    return hn::Mul(rest, hn::Set(d, normalised.inverse));
  }
};

void norm_rows(const float* x, const float* gamma, const float* beta, float* y, float* mean,
               float* inverse, float epsilon, std::int64_t columns, std::int64_t begin,
               std::int64_t end) {
  const auto count = static_cast<float>(columns);
  for (std::int64_t r = begin; r < end; ++r) {
    const float* row = x + r * columns;
    mean[r] = sum(0, columns, Same(), row) / count;
    const float variance = sum(0, columns, SquareFrom{mean[r]}, row) / count;
    inverse[r] = 1.0F / std::sqrt(variance + epsilon);
    map(y + r * columns, 0, columns, Scaled{{mean[r], inverse[r]}}, row, gamma, beta);
  }
}

void derivative_rows(const float* x, const float* gamma, const float* dy, float* dx,
                     const float* mean, const float* inverse, std::int64_t columns,
                     std::int64_t begin, std::int64_t end) {
  const auto count = static_cast<float>(columns);
  for (std::int64_t r = begin; r < end; ++r) {
    const std::int64_t at = r * columns;
    const Normalised n{mean[r], inverse[r]};
    const float middle = sum(0, columns, Product(), dy + at, gamma) / count;
    const float along = sum(0, columns, ProductWithNormalised{n}, dy + at, gamma, x + at) / count;
    map(dx + at, 0, columns, Slope{n, middle, along}, dy + at, gamma, x + at);
  }
}

void sum_gradients(const float* x, const float* dy, const float* mean, const float* inverse,
                   float* sums, std::int64_t columns, std::int64_t begin, std::int64_t end) {
  for (std::int64_t r = begin; r < end; ++r) {
    const std::int64_t at = r * columns;
    const Normalised n{mean[r], inverse[r]};
    for_columns(columns, [&](auto d, std::int64_t c) HWY_ATTR {
      const auto g = hn::LoadU(d, dy + at + c);
      const auto scaled = n(d, hn::LoadU(d, x + at + c));
      hn::StoreU(hn::MulAdd(g, scaled, hn::LoadU(d, sums + c)), d, sums + c);
      float* shift = sums + columns + c;
      hn::StoreU(hn::Add(g, hn::LoadU(d, shift)), d, shift);
    });
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moil {

HWY_EXPORT(norm_rows);
HWY_EXPORT(derivative_rows);
HWY_EXPORT(sum_gradients);

void layer_norm(const float* x, const float* gamma, const float* beta, float* y, float* mean,
                float* inverse, float epsilon, std::int64_t columns, std::int64_t begin,
                std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(norm_rows)
  (x, gamma, beta, y, mean, inverse, epsilon, columns, begin, end);
}

void layer_norm_derivative(const float* x, const float* gamma, const float* dy, float* dx,
                           const float* mean, const float* inverse, std::int64_t columns,
                           std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(derivative_rows)
  (x, gamma, dy, dx, mean, inverse, columns, begin, end);
}

void layer_norm_sums(const float* x, const float* dy, const float* mean, const float* inverse,
                     float* sums, std::int64_t columns, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(sum_gradients)(x, dy, mean, inverse, sums, columns, begin, end);
}

}  // namespace moil
#endif  // HWY_ONCE
