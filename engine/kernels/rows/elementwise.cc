#include "engine/kernels/rows/elementwise.h"

#include <cstring>

#include "engine/kernels/simd/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/rows/elementwise.cc"
#include "hwy/foreach_target.h"
//
#include "engine/kernels/simd/simd-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {
namespace {

struct Times {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};

template <bool kLarger, class V>
HWY_INLINE auto exceeds(V a, V b) {
  if constexpr (kLarger)
    return hn::Gt(a, b);
  else
    return hn::Lt(a, b);
}

template <bool kLarger>
struct Extreme {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::IfThenElse(hn::Or(exceeds<kLarger>(a, b), hn::IsNaN(a)), a, b);
  }
};

template <bool kLarger>
struct ExtremeSlope {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b, V dy) const {
    const auto share = hn::IfThenElse(hn::Eq(a, b), hn::Mul(dy, hn::Set(d, 0.5F)), dy);
    return hn::IfThenZeroElse(exceeds<kLarger>(b, a), share);
  }
};

// All terms of a vector are read before it is written, since out may be any of them.
void add_range(const float* const* terms, std::size_t count, float* out, std::int64_t begin,
               std::int64_t end) {
  for_columns(end - begin, [&](auto d, std::int64_t c) HWY_ATTR {
    auto total = hn::Zero(d);
    bool first = true;
    for (std::size_t t = 0; t < count; ++t) {
      if (!terms[t]) continue;
      const auto term = hn::LoadU(d, terms[t] + begin + c);
      total = first ? term : hn::Add(total, term);
      first = false;
    }
    hn::StoreU(total, d, out + begin + c);
  });
}

void multiply_range(const float* a, const float* b, float* out, std::int64_t begin,
                    std::int64_t end) {
  map(out, begin, end, Times(), a, b);
}

template <bool kLarger>
void extreme(const float* a, const float* b, float* out, std::int64_t begin, std::int64_t end) {
  map(out, begin, end, Extreme<kLarger>(), a, b);
}

template <bool kLarger>
void extreme_slope(const float* a, const float* b, const float* dy, float* da, std::int64_t begin,
                   std::int64_t end) {
  map(da, begin, end, ExtremeSlope<kLarger>(), a, b, dy);
}

void larger_range(const float* a, const float* b, float* out, std::int64_t begin,
                  std::int64_t end) {
  extreme<true>(a, b, out, begin, end);
}
void smaller_range(const float* a, const float* b, float* out, std::int64_t begin,
                   std::int64_t end) {
  extreme<false>(a, b, out, begin, end);
}
void larger_slope(const float* a, const float* b, const float* dy, float* da, std::int64_t begin,
                  std::int64_t end) {
  extreme_slope<true>(a, b, dy, da, begin, end);
}
void smaller_slope(const float* a, const float* b, const float* dy, float* da, std::int64_t begin,
                   std::int64_t end) {
  extreme_slope<false>(a, b, dy, da, begin, end);
}

void multiply_rows(const float* in, const float* factors, float* out, std::int64_t channels,
                   std::int64_t begin, std::int64_t end) {
  for (std::int64_t r = begin; r < end; ++r) {
    const std::int64_t at = r * channels;
    for_columns(channels, [&](auto d, std::int64_t c) HWY_ATTR {
      hn::StoreU(hn::Mul(hn::LoadU(d, in + at + c), hn::LoadU(d, factors + c)), d, out + at + c);
    });
  }
}

void sum_products(const float* a, const float* b, float* out, std::int64_t rows,
                  std::int64_t channels) {
  for_columns(channels, [&](auto d, std::int64_t c) HWY_ATTR {
    auto total = hn::Zero(d);
    for (std::int64_t at = c; at < rows * channels; at += channels) {
      total = hn::MulAdd(hn::LoadU(d, a + at), hn::LoadU(d, b + at), total);
    }
    hn::StoreU(total, d, out + c);
  });
}

double squares(const float* in, std::int64_t begin, std::int64_t end) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = hn::Zero(d);
  std::int64_t i = begin;
  for (; i + 2 * lanes <= end; i += 2 * lanes) {
    const auto v0 = hn::PromoteTo(d, hn::LoadU(narrow, in + i));
    const auto v1 = hn::PromoteTo(d, hn::LoadU(narrow, in + i + lanes));
    s0 = hn::MulAdd(v0, v0, s0);
    s1 = hn::MulAdd(v1, v1, s1);
  }
  double total = hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
  for (; i < end; ++i) total += static_cast<double>(in[i]) * in[i];
  return total;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moil {

HWY_EXPORT(add_range);
HWY_EXPORT(multiply_range);
HWY_EXPORT(larger_range);
HWY_EXPORT(smaller_range);
HWY_EXPORT(larger_slope);
HWY_EXPORT(smaller_slope);
HWY_EXPORT(multiply_rows);
HWY_EXPORT(sum_products);
HWY_EXPORT(squares);

void add_all(std::span<const float* const> terms, float* out, std::int64_t begin,
             std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(add_range)(terms.data(), terms.size(), out, begin, end);
}

void multiply(const float* a, const float* b, float* out, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(multiply_range)(a, b, out, begin, end);
}

void larger(const float* a, const float* b, float* out, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(larger_range)(a, b, out, begin, end);
}

void smaller(const float* a, const float* b, float* out, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(smaller_range)(a, b, out, begin, end);
}

void larger_derivative(const float* a, const float* b, const float* dy, float* da,
                       std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(larger_slope)(a, b, dy, da, begin, end);
}

void smaller_derivative(const float* a, const float* b, const float* dy, float* da,
                        std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(smaller_slope)(a, b, dy, da, begin, end);
}

void multiply_channels(const float* in, const float* factors, float* out, std::int64_t channels,
                       std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(multiply_rows)(in, factors, out, channels, begin, end);
}

void sum_products_by_channel(const float* a, const float* b, float* out, std::int64_t rows,
                             std::int64_t channels) {
  HWY_DYNAMIC_DISPATCH(sum_products)(a, b, out, rows, channels);
}

double sum_of_squares(const float* in, std::int64_t begin, std::int64_t end) {
  return HWY_DYNAMIC_DISPATCH(squares)(in, begin, end);
}

void copy(const float* in, float* out, std::int64_t begin, std::int64_t end) {
  if (in == out || begin >= end) return;
  std::memcpy(out + begin, in + begin, static_cast<std::size_t>(end - begin) * sizeof(float));
}

}  // namespace moil
#endif  // HWY_ONCE
