#include "engine/kernels/rows/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/kernels/simd/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/rows/softmax.cc"
#include "hwy/foreach_target.h"
//
#include "engine/kernels/simd/simd-inl.h"
#include "engine/kernels/simd/transcendental-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {
namespace {

struct Identity {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return x;
  }
};

constexpr float kLeast = -std::numeric_limits<float>::infinity();

// The largest f(tag, in[i]...).
template <class F, class... In>
float largest(std::int64_t columns, const F& f, const In*... in) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto most = hn::Set(d, kLeast);
  std::int64_t c = 0;
  for (; c + lanes <= columns; c += lanes) most = hn::Max(most, f(d, hn::LoadU(d, in + c)...));
  if (c < columns) {
    const auto rest = static_cast<std::size_t>(columns - c);
    const auto least = hn::Set(d, kLeast);
    const auto value = f(d, load_first(d, in + c, rest)...);
    most = hn::Max(most, hn::IfThenElse(hn::FirstN(d, rest), value, least));
  }
  return hn::GetLane(hn::MaxOfLanes(d, most));
}

float largest(const float* in, std::int64_t columns) { return largest(columns, Identity(), in); }

// out = scale * e^(in - most).
struct ScaledExp {
  float most, scale;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(hn::Set(d, scale), exponential(d, hn::Sub(x, hn::Set(d, most))));
  }
};

struct Product {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};

struct Scale {
  float factor;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(x, hn::Set(d, factor));
  }
};

struct SoftmaxSlope {
  float inner;  // sum(y * dy)
  template <class D, class V>
  HWY_INLINE V operator()(D d, V y, V dy) const {
    return hn::Mul(y, hn::Sub(dy, hn::Set(d, inner)));
  }
};

struct LogProbability {
  float most, log_rest;  // the largest; the logarithm of the sum of e^(x - most)
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Sub(hn::Sub(x, hn::Set(d, most)), hn::Set(d, log_rest));
  }
};

struct LogSoftmaxSlope {
  float total;  // sum(dy)
  template <class D, class V>
  HWY_INLINE V operator()(D d, V y, V dy) const {
    return hn::NegMulAdd(exponential(d, y), hn::Set(d, total), dy);
  }
};

struct LogLoss {
  float log_sum;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V target) const {
    return hn::Mul(target, hn::Sub(hn::Set(d, log_sum), x));
  }
};

struct LossSlope {
  float target_sum, scale;  // of probabilities, of everything
  ScaledExp probability;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V target) const {
    const V p = probability(d, x);
    return hn::Mul(hn::Set(d, scale), hn::MulSub(p, hn::Set(d, target_sum), target));
  }
};

float sum_of_exp(const float* in, std::int64_t columns, float most) {
  return sum(0, columns, ScaledExp{most, 1.0F}, in);
}

void softmax_rows(const float* in, float* out, std::int64_t columns, std::int64_t begin,
                  std::int64_t end) {
  for (std::int64_t r = begin; r < end; ++r) {
    const float* x = in + r * columns;
    float* y = out + r * columns;
    map(y, 0, columns, ScaledExp{largest(x, columns), 1.0F}, x);
    map(y, 0, columns, Scale{1.0F / sum(0, columns, Identity(), y)}, y);
  }
}

void softmax_derivative_rows(const float* y, const float* dy, float* dx, std::int64_t columns,
                             std::int64_t begin, std::int64_t end) {
  for (std::int64_t at = begin * columns; at < end * columns; at += columns) {
    const float inner = sum(0, columns, Product(), y + at, dy + at);
    map(dx + at, 0, columns, SoftmaxSlope{inner}, y + at, dy + at);
  }
}

void log_softmax_rows(const float* in, float* out, std::int64_t columns, std::int64_t begin,
                      std::int64_t end) {
  for (std::int64_t at = begin * columns; at < end * columns; at += columns) {
    const float most = largest(in + at, columns);
    const float log_rest = std::log(sum_of_exp(in + at, columns, most));
    map(out + at, 0, columns, LogProbability{most, log_rest}, in + at);
  }
}

void log_softmax_derivative_rows(const float* y, const float* dy, float* dx, std::int64_t columns,
                                 std::int64_t begin, std::int64_t end) {
  for (std::int64_t at = begin * columns; at < end * columns; at += columns) {
    const float total = sum(0, columns, Identity(), dy + at);
    map(dx + at, 0, columns, LogSoftmaxSlope{total}, y + at, dy + at);
  }
}

// The elements of a row whose target is NaN, which are open, or all others, which are known.
enum class Side { kOpen, kKnown };

template <Side kSide, class V>
HWY_INLINE V on_side(V target, V value, V otherwise) {
  const auto is_open = hn::IsNaN(target);
  return kSide == Side::kOpen ? hn::IfThenElse(is_open, value, otherwise)
                              : hn::IfThenElse(is_open, otherwise, value);
}

template <Side kSide>
struct OnSide {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V target) const {
    return on_side<kSide>(target, x, hn::Set(d, kLeast));
  }
};

template <Side kSide>
struct ExpOnSide {
  float most;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V target) const {
    return on_side<kSide>(target, exponential(d, hn::Sub(x, hn::Set(d, most))), hn::Zero(d));
  }
};

struct KnownTarget {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V target) const {
    return on_side<Side::kKnown>(target, target, hn::Zero(d));
  }
};

// By how much more than that of what is open.
struct KnownLogLoss {
  float log_sum;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V target) const {
    return on_side<Side::kKnown>(target, LogLoss{log_sum}(d, x, target), hn::Zero(d));
  }
};

struct OpenSlope {
  ScaledExp open, known;
  float scale;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V target) const {
    const V slope = on_side<Side::kOpen>(target, open(d, x), hn::Sub(known(d, x), target));
    return hn::Mul(hn::Set(d, scale), slope);
  }
};

struct SideSum {
  float most, sum;  // the largest; the sum of e^(x - most)
  double log_sum() const { return double{most} + std::log(double{sum}); }
};

template <Side kSide>
SideSum side_sum(const float* in, const float* target, std::int64_t columns) {
  const float most = largest(columns, OnSide<kSide>(), in, target);
  return {most, sum(0, columns, ExpOnSide<kSide>{most}, in, target)};
}

// A row with open elements. No difference is made of probabilities that are nearly the same: the
// odds of both sides say all.
struct OpenRow {
  OpenRow(const float* in, const float* target, std::int64_t columns)
      : open(side_sum<Side::kOpen>(in, target, columns)),
        known(side_sum<Side::kKnown>(in, target, columns)),
        log_odds(known.log_sum() - open.log_sum()) {}

  // -log of the probability of all that is open.
  double open_loss() const {
    return std::max(log_odds, 0.0) + std::log1p(std::exp(-std::fabs(log_odds)));
  }
  double known_probability() const { return 1 / (1 + std::exp(-log_odds)); }

  SideSum open, known;
  double log_odds;  // log(probability of what is known / of what is open)
};

bool has_open(const float* target, std::int64_t columns) {
  return std::isnan(sum(0, columns, Identity(), target));
}

double open_row_loss(const float* x, const float* target, std::int64_t columns) {
  const OpenRow row(x, target, columns);
  const KnownLogLoss beyond{static_cast<float>(row.open.log_sum())};
  return row.open_loss() + double{sum(0, columns, beyond, x, target)};
}

void open_row_derivative(const float* x, const float* target, float* dx, float scale,
                         std::int64_t columns) {
  const OpenRow row(x, target, columns);
  const double p = row.known_probability();
  const double given = double{sum(0, columns, KnownTarget(), target)};
  const OpenSlope slope{{row.open.most, static_cast<float>((given - p) / double{row.open.sum})},
                        {row.known.most, static_cast<float>(p / double{row.known.sum})},
                        scale};
  map(dx, 0, columns, slope, x, target);
}

// An open row shows itself by a sum that is NaN: others pay nothing for it.
void cross_entropy_rows(const float* in, const float* target, double* row_loss,
                        std::int64_t columns, std::int64_t begin, std::int64_t end) {
  for (std::int64_t r = begin; r < end; ++r) {
    const float* x = in + r * columns;
    const float most = largest(x, columns);
    const float log_sum = most + std::log(sum_of_exp(x, columns, most));
    const float* t = target + r * columns;
    row_loss[r] = static_cast<double>(sum(0, columns, LogLoss{log_sum}, x, t));
    if (std::isnan(row_loss[r]) && has_open(t, columns)) row_loss[r] = open_row_loss(x, t, columns);
  }
}

void cross_entropy_derivative_rows(const float* in, const float* target, float* dx, float scale,
                                   std::int64_t columns, std::int64_t begin, std::int64_t end) {
  for (std::int64_t at = begin * columns; at < end * columns; at += columns) {
    const float most = largest(in + at, columns);
    const ScaledExp probability{most, 1.0F / sum_of_exp(in + at, columns, most)};
    const float target_sum = sum(0, columns, Identity(), target + at);
    if (std::isnan(target_sum)) {
      open_row_derivative(in + at, target + at, dx + at, scale, columns);
      continue;
    }
    map(dx + at, 0, columns, LossSlope{target_sum, scale, probability}, in + at, target + at);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moil {

HWY_EXPORT(softmax_rows);
HWY_EXPORT(softmax_derivative_rows);
HWY_EXPORT(log_softmax_rows);
HWY_EXPORT(log_softmax_derivative_rows);
HWY_EXPORT(cross_entropy_rows);
HWY_EXPORT(cross_entropy_derivative_rows);

void softmax(const float* in, float* out, std::int64_t columns, std::int64_t begin,
             std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(softmax_rows)(in, out, columns, begin, end);
}

void softmax_derivative(const float* y, const float* dy, float* dx, std::int64_t columns,
                        std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(softmax_derivative_rows)(y, dy, dx, columns, begin, end);
}

void log_softmax(const float* in, float* out, std::int64_t columns, std::int64_t begin,
                 std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(log_softmax_rows)(in, out, columns, begin, end);
}

void log_softmax_derivative(const float* y, const float* dy, float* dx, std::int64_t columns,
                            std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(log_softmax_derivative_rows)(y, dy, dx, columns, begin, end);
}

void softmax_cross_entropy(const float* in, const float* target, double* row_loss,
                           std::int64_t columns, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(cross_entropy_rows)(in, target, row_loss, columns, begin, end);
}

void softmax_cross_entropy_derivative(const float* in, const float* target, float* dx, float scale,
                                      std::int64_t columns, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(cross_entropy_derivative_rows)(in, target, dx, scale, columns, begin, end);
}

}  // namespace moil
#endif  // HWY_ONCE
