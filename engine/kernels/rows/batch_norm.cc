#include "engine/kernels/rows/batch_norm.h"

#include <algorithm>

#include "engine/kernels/parallel.h"
#include "engine/kernels/simd/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/rows/batch_norm.cc"
#include "hwy/foreach_target.h"
//
#include "engine/kernels/simd/simd-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {
namespace {

// fp32 sums run over at most this many rows before they are added to the double ones.
constexpr std::int64_t kBlock = 64;

template <class D>
HWY_INLINE void add_lanes(D d, hn::Vec<D> v, double* to) {
  HWY_ALIGN float lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) to[i] += static_cast<double>(lanes[i]);
}

// first += sum of f(row).first, second += sum of f(row).second over rows [begin, end) of one column
// of `kVectors` vectors, where f(d, i, a, b) adds the element at i to its two running sums.
template <int kVectors, class D, class F>
HWY_INLINE void sum_column(D d, std::int64_t column, std::int64_t channels, std::int64_t begin,
                           std::int64_t end, double* first, double* second, const F& f) {
  using V = hn::Vec<D>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V a[kVectors], b[kVectors];
  for (int k = 0; k < kVectors; ++k) a[k] = b[k] = hn::Zero(d);
  for (std::int64_t r = begin; r < end; ++r) {
    for (int k = 0; k < kVectors; ++k) {
      f(d, r * channels + column + k * lanes, column + k * lanes, a[k], b[k]);
    }
  }
  for (int k = 0; k < kVectors; ++k) {
    add_lanes(d, a[k], first + column + k * lanes);
    if (second) add_lanes(d, b[k], second + column + k * lanes);
  }
}

template <class F>
HWY_INLINE void sum_columns(std::int64_t channels, std::int64_t begin, std::int64_t end,
                            double* first, double* second, const F& f) {
  const hn::ScalableTag<float> full;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(full));
  for (std::int64_t block = begin; block < end; block += kBlock) {
    const std::int64_t stop = std::min(end, block + kBlock);
    std::int64_t wide = 0;
    for (; wide + 4 * lanes <= channels; wide += 4 * lanes) {
      sum_column<4>(full, wide, channels, block, stop, first, second, f);
    }
    for_columns(channels - wide, [&](auto d, std::int64_t c) HWY_ATTR {
      sum_column<1>(d, wide + c, channels, block, stop, first, second, f);
    });
  }
}

// Sums of (x - origin) and of its square.
struct Moments {
  const float *x, *origin;
  template <class D, class V>
  HWY_INLINE void operator()(D d, std::int64_t i, std::int64_t channel, V& a, V& b) const {
    const V v = hn::Sub(hn::LoadU(d, x + i), hn::LoadU(d, origin + channel));
    a = hn::Add(a, v);
    b = hn::MulAdd(v, v, b);
  }
};

struct DerivativeSum {
  const float* dy;
  template <class D, class V>
  HWY_INLINE void operator()(D d, std::int64_t i, std::int64_t, V& a, V&) const {
    a = hn::Add(a, hn::LoadU(d, dy + i));
  }
};

struct DerivativeSums {
  const float *x, *mean, *dy;
  template <class D, class V>
  HWY_INLINE void operator()(D d, std::int64_t i, std::int64_t channel, V& a, V& b) const {
    const V g = hn::LoadU(d, dy + i);
    a = hn::Add(a, g);
    b = hn::MulAdd(g, hn::Sub(hn::LoadU(d, x + i), hn::LoadU(d, mean + channel)), b);
  }
};

void moments(const float* x, const float* origin, std::int64_t channels, std::int64_t begin,
             std::int64_t end, double* first, double* second) {
  sum_columns(channels, begin, end, first, second, Moments{x, origin});
}

void derivative_sums(const float* x, const float* mean, const float* dy, std::int64_t channels,
                     std::int64_t begin, std::int64_t end, double* first, double* second) {
  if (x)
    sum_columns(channels, begin, end, first, second, DerivativeSums{x, mean, dy});
  else
    sum_columns(channels, begin, end, first, nullptr, DerivativeSum{dy});
}

void scale_rows(const float* x, const float* scale, const float* shift, float* y,
                std::int64_t channels, std::int64_t begin, std::int64_t end) {
  for (std::int64_t r = begin; r < end; ++r) {
    const float* from = x + r * channels;
    float* to = y + r * channels;
    for_columns(channels, [&](auto d, std::int64_t c) HWY_ATTR {
      const auto add = shift ? hn::LoadU(d, shift + c) : hn::Zero(d);
      hn::StoreU(hn::MulAdd(hn::LoadU(d, from + c), hn::LoadU(d, scale + c), add), d, to + c);
    });
  }
}

void derivative_rows(const float* x, const float* dy, float* dx, const float* scale,
                     const float* offset, const float* mean, const float* slope,
                     std::int64_t channels, std::int64_t begin, std::int64_t end) {
  for (std::int64_t r = begin; r < end; ++r) {
    const std::int64_t at = r * channels;
    for_columns(channels, [&](auto d, std::int64_t c) HWY_ATTR {
      const auto centred = hn::Sub(hn::LoadU(d, x + at + c), hn::LoadU(d, mean + c));
      const auto rest = hn::Sub(hn::LoadU(d, dy + at + c), hn::LoadU(d, offset + c));
      const auto g = hn::NegMulAdd(centred, hn::LoadU(d, slope + c), rest);
      hn::StoreU(hn::Mul(g, hn::LoadU(d, scale + c)), d, dx + at + c);
    });
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moil {

HWY_EXPORT(moments);
HWY_EXPORT(derivative_sums);
HWY_EXPORT(scale_rows);
HWY_EXPORT(derivative_rows);

namespace {

constexpr std::int64_t kElementsAPart = 16384;

int parts_of(const RowShape& shape) {
  const std::int64_t wanted = shape.rows * shape.channels / kElementsAPart;
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, 8));
}

// Runs sums(begin, end, first, second) for every part and adds the parts up into part 0's arrays.
template <class Sums>
double* gather(const RowShape& shape, std::byte* workspace, const Sums& sums) {
  auto* totals = reinterpret_cast<double*>(workspace);
  const int parts = parts_of(shape);
  const std::int64_t width = 2 * shape.channels;
  parallel_parts(parts, [&](int part) {
    double* first = totals + part * width;
    std::fill(first, first + width, 0.0);
    const Range rows = part_of(shape.rows, part, parts);
    sums(rows.begin, rows.end, first, first + shape.channels);
  });
  for (int part = 1; part < parts; ++part) {
    for (std::int64_t c = 0; c < width; ++c) totals[c] += totals[part * width + c];
  }
  return totals;
}

// A point near the mean of every channel, to sum squares around: without it the variance of a
// channel far from 0 would drown in rounding.
void find_origin(const float* x, const RowShape& shape, float* origin) {
  const std::int64_t samples = std::min<std::int64_t>(16, shape.rows);
  for (std::int64_t c = 0; c < shape.channels; ++c) origin[c] = 0;
  for (std::int64_t s = 0; s < samples; ++s) {
    const float* row = x + shape.rows * s / samples * shape.channels;
    for (std::int64_t c = 0; c < shape.channels; ++c) origin[c] += row[c];
  }
  for (std::int64_t c = 0; c < shape.channels; ++c) origin[c] /= static_cast<float>(samples);
}

std::int64_t grain(const RowShape& shape) {
  return std::max<std::int64_t>(1, kElementsAPart / shape.channels);
}

}  // namespace

std::size_t channel_sums_workspace(const RowShape& shape) {
  return static_cast<std::size_t>(parts_of(shape)) * 2 * static_cast<std::size_t>(shape.channels) *
         sizeof(double);
}

void channel_statistics(const float* x, const RowShape& shape, float* mean, float* variance,
                        std::byte* workspace) {
  const float* origin = mean;  // until it is replaced by the mean itself
  find_origin(x, shape, mean);
  const double* sums = gather(shape, workspace, [&](auto begin, auto end, auto* a, auto* b) {
    HWY_DYNAMIC_DISPATCH(moments)(x, origin, shape.channels, begin, end, a, b);
  });
  const auto rows = static_cast<double>(shape.rows);
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    const double offset = sums[c] / rows;
    const double spread = sums[shape.channels + c] / rows - offset * offset;
    mean[c] = static_cast<float>(static_cast<double>(mean[c]) + offset);
    variance[c] = spread > 0 || spread != spread ? static_cast<float>(spread) : 0.0F;
  }
}

void channel_derivative_sums(const float* x, const float* mean, const float* dy,
                             const RowShape& shape, float* sum_dy, float* sum_dy_x,
                             std::byte* workspace) {
  const double* sums = gather(shape, workspace, [&](auto begin, auto end, auto* a, auto* b) {
    HWY_DYNAMIC_DISPATCH(derivative_sums)(x, mean, dy, shape.channels, begin, end, a, b);
  });
  for (std::int64_t c = 0; c < shape.channels; ++c) sum_dy[c] = static_cast<float>(sums[c]);
  if (!x) return;
  for (std::int64_t c = 0; c < shape.channels; ++c)
    sum_dy_x[c] = static_cast<float>(sums[shape.channels + c]);
}

void scale_channels(const float* x, const float* scale, const float* shift, float* y,
                    const RowShape& shape) {
  parallel_for(shape.rows, grain(shape), [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(scale_rows)(x, scale, shift, y, shape.channels, begin, end);
  });
}

void normalised_derivative(const float* x, const float* dy, float* dx, const float* scale,
                           const float* offset, const float* mean, const float* slope,
                           const RowShape& shape) {
  parallel_for(shape.rows, grain(shape), [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(derivative_rows)
    (x, dy, dx, scale, offset, mean, slope, shape.channels, begin, end);
  });
}

}  // namespace moil
#endif  // HWY_ONCE
