#include "engine/kernels/rows/pointwise.h"

#include "engine/kernels/simd/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/rows/pointwise.cc"
#include "hwy/foreach_target.h"
//
#include "engine/kernels/simd/clamp-inl.h"
#include "engine/kernels/simd/simd-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {
namespace {

struct ScaleShift {
  float factor, offset;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::MulAdd(x, hn::Set(d, factor), hn::Set(d, offset));
  }
};

struct Clamp {
  float least, most;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return at_most(at_least(x, hn::Set(d, least)), hn::Set(d, most));
  }
};

struct ClampSlope {
  float least, most;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V dy) const {
    const auto inside = hn::And(hn::Gt(x, hn::Set(d, least)), hn::Lt(x, hn::Set(d, most)));
    return hn::IfThenElseZero(inside, dy);
  }
};

struct Reciprocal {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Div(hn::Set(d, 1.0F), x);
  }
};

struct ReciprocalSlope {
  template <class D, class V>
  HWY_INLINE V operator()(D, V y, V dy) const {
    return hn::Mul(hn::Neg(dy), hn::Mul(y, y));
  }
};

struct Sum {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};

struct ProductSum {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b, V to) const {
    return hn::MulAdd(a, b, to);
  }
};

struct Prelu {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V slope) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(x, slope));
  }
};

struct PreluSlope {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V slope, V dy) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), dy, hn::Mul(dy, slope));
  }
};

struct PreluSum {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V dy, V to) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), to, hn::MulAdd(x, dy, to));
  }
};

void scale_shift_range(const float* in, float factor, float offset, float* out, std::int64_t begin,
                       std::int64_t end) {
  map(out, begin, end, ScaleShift{factor, offset}, in);
}

void clamp_range(const float* in, float least, float most, float* out, std::int64_t begin,
                 std::int64_t end) {
  map(out, begin, end, Clamp{least, most}, in);
}

void clamp_derivative_range(const float* in, float least, float most, const float* dy, float* dx,
                            std::int64_t begin, std::int64_t end) {
  map(dx, begin, end, ClampSlope{least, most}, in, dy);
}

void reciprocal_range(const float* in, float* out, std::int64_t begin, std::int64_t end) {
  map(out, begin, end, Reciprocal(), in);
}

void reciprocal_derivative_range(const float* y, const float* dy, float* dx, std::int64_t begin,
                                 std::int64_t end) {
  map(dx, begin, end, ReciprocalSlope(), y, dy);
}

void add_row_to_rows(const float* in, const float* row, float* out, std::int64_t columns,
                     std::int64_t begin, std::int64_t end) {
  for (std::int64_t at = begin * columns; at < end * columns; at += columns)
    map(out + at, 0, columns, Sum(), in + at, row);
}

void add_product_rows(const float* a, const float* b, float* sums, std::int64_t columns,
                      std::int64_t begin, std::int64_t end) {
  for (std::int64_t at = begin * columns; at < end * columns; at += columns)
    map(sums, 0, columns, ProductSum(), a + at, b + at, static_cast<const float*>(sums));
}

void prelu_rows(const float* x, const float* slopes, float* y, std::int64_t columns,
                std::int64_t begin, std::int64_t end) {
  for (std::int64_t at = begin * columns; at < end * columns; at += columns)
    map(y + at, 0, columns, Prelu(), x + at, slopes);
}

void prelu_derivative_rows(const float* x, const float* slopes, const float* dy, float* dx,
                           std::int64_t columns, std::int64_t begin, std::int64_t end) {
  for (std::int64_t at = begin * columns; at < end * columns; at += columns)
    map(dx + at, 0, columns, PreluSlope(), x + at, slopes, dy + at);
}

void prelu_sum_rows(const float* x, const float* dy, float* sums, std::int64_t columns,
                    std::int64_t begin, std::int64_t end) {
  for (std::int64_t at = begin * columns; at < end * columns; at += columns)
    map(sums, 0, columns, PreluSum(), x + at, dy + at, static_cast<const float*>(sums));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moil {

HWY_EXPORT(scale_shift_range);
HWY_EXPORT(clamp_range);
HWY_EXPORT(clamp_derivative_range);
HWY_EXPORT(reciprocal_range);
HWY_EXPORT(reciprocal_derivative_range);
HWY_EXPORT(add_row_to_rows);
HWY_EXPORT(add_product_rows);
HWY_EXPORT(prelu_rows);
HWY_EXPORT(prelu_derivative_rows);
HWY_EXPORT(prelu_sum_rows);

void scale_shift(const float* in, float factor, float offset, float* out, std::int64_t begin,
                 std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(scale_shift_range)(in, factor, offset, out, begin, end);
}

void clamp(const float* in, float least, float most, float* out, std::int64_t begin,
           std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(clamp_range)(in, least, most, out, begin, end);
}

void clamp_derivative(const float* in, float least, float most, const float* dy, float* dx,
                      std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(clamp_derivative_range)(in, least, most, dy, dx, begin, end);
}

void reciprocal(const float* in, float* out, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(reciprocal_range)(in, out, begin, end);
}

void reciprocal_derivative(const float* y, const float* dy, float* dx, std::int64_t begin,
                           std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(reciprocal_derivative_range)(y, dy, dx, begin, end);
}

void add_row(const float* in, const float* row, float* out, std::int64_t columns,
             std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(add_row_to_rows)(in, row, out, columns, begin, end);
}

void add_products(const float* a, const float* b, float* sums, std::int64_t columns,
                  std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(add_product_rows)(a, b, sums, columns, begin, end);
}

void prelu(const float* x, const float* slopes, float* y, std::int64_t columns, std::int64_t begin,
           std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(prelu_rows)(x, slopes, y, columns, begin, end);
}

void prelu_derivative(const float* x, const float* slopes, const float* dy, float* dx,
                      std::int64_t columns, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(prelu_derivative_rows)(x, slopes, dy, dx, columns, begin, end);
}

void prelu_sums(const float* x, const float* dy, float* sums, std::int64_t columns,
                std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(prelu_sum_rows)(x, dy, sums, columns, begin, end);
}

}  // namespace moil
#endif  // HWY_ONCE
