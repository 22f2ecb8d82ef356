#include "engine/kernels/convolution/pooling.h"

#include <algorithm>
#include <limits>

#include "engine/kernels/simd/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/convolution/pooling.cc"
#include "hwy/foreach_target.h"
//
#include "engine/kernels/simd/simd-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {
namespace {

struct Span {
  std::int64_t begin, end;
};

// What a window over one axis covers of the input, cut at its borders.
HWY_INLINE Span window(std::int64_t out, std::int64_t stride, std::int64_t pad, std::int64_t kernel,
                       std::int64_t size) {
  const std::int64_t start = out * stride - pad;
  return {std::max<std::int64_t>(0, start), std::min(size, start + kernel)};
}

// Which places of a window with gaps lie on the input, along one axis.
HWY_INLINE Span taps(std::int64_t start, std::int64_t kernel, std::int64_t dilation,
                     std::int64_t size) {
  const auto first_at = [&](std::int64_t distance) {
    return distance <= 0 ? 0 : (distance + dilation - 1) / dilation;
  };
  return {first_at(-start), std::min(kernel, first_at(size - start))};
}

// The outputs whose windows cover one place of the input, along one axis.
HWY_INLINE Span covering(std::int64_t in, std::int64_t stride, std::int64_t pad,
                         std::int64_t kernel, std::int64_t outs) {
  const std::int64_t at = in + pad;
  const std::int64_t first = at < kernel ? 0 : (at - kernel) / stride + 1;
  return {first, std::min(outs, at / stride + 1)};
}

// The number that an average divides by.
HWY_INLINE float divisor(const PoolShape& s, std::int64_t y, std::int64_t x) {
  const std::int64_t top = y * s.stride_h - s.pad_top, left = x * s.stride_w - s.pad_left;
  const std::int64_t bottom = std::min(top + s.kernel_h, s.in_h + s.pad_bottom);
  const std::int64_t right = std::min(left + s.kernel_w, s.in_w + s.pad_right);
  if (s.count_include_pad) return static_cast<float>((bottom - top) * (right - left));
  const std::int64_t h = std::min(bottom, s.in_h) - std::max<std::int64_t>(top, 0);
  const std::int64_t w = std::min(right, s.in_w) - std::max<std::int64_t>(left, 0);
  return static_cast<float>(h * w);
}

// ys, xs: places of the window; top, left: where it begins in the image.
template <class Index, class D>
HWY_INLINE void max_of_window(const PoolShape& s, D d, const float* image, Span ys, Span xs,
                              std::int64_t top, std::int64_t left, float* out, Index* argmax) {
  const hn::RebindToSigned<D> di;
  auto best = hn::Set(d, -std::numeric_limits<float>::infinity());
  auto where = hn::Set(di, static_cast<std::int32_t>(ys.begin * s.kernel_w + xs.begin));
  for (std::int64_t ky = ys.begin; ky < ys.end; ++ky) {
    const float* line = image + (top + ky * s.dilation_h) * s.in_w * s.channels;
    for (std::int64_t kx = xs.begin; kx < xs.end; ++kx) {
      const auto v = hn::LoadU(d, line + (left + kx * s.dilation_w) * s.channels);
      const auto better = hn::Or(hn::Gt(v, best), hn::IsNaN(v));
      best = hn::IfThenElse(better, v, best);
      if (argmax) {
        const auto place = static_cast<std::int32_t>(ky * s.kernel_w + kx);
        where = hn::IfThenElse(hn::RebindMask(di, better), hn::Set(di, place), where);
      }
    }
  }
  hn::StoreU(best, d, out);
  if (argmax) {
    const hn::Rebind<Index, D> dn;
    hn::StoreU(hn::DemoteTo(dn, where), dn, argmax);
  }
}

template <class Index>
void max_rows(const PoolShape& s, const float* in, float* out, Index* argmax, std::int64_t begin,
              std::int64_t end) {
  for (std::int64_t row = begin; row < end; ++row) {
    const float* image = in + row / s.out_h * s.in_h * s.in_w * s.channels;
    const std::int64_t top = row % s.out_h * s.stride_h - s.pad_top;
    const Span ys = taps(top, s.kernel_h, s.dilation_h, s.in_h);
    for (std::int64_t x = 0; x < s.out_w; ++x) {
      const std::int64_t left = x * s.stride_w - s.pad_left;
      const Span xs = taps(left, s.kernel_w, s.dilation_w, s.in_w);
      const std::int64_t at = (row * s.out_w + x) * s.channels;
      for_columns(s.channels, [&](auto d, std::int64_t c) HWY_ATTR {
        max_of_window(s, d, image + c, ys, xs, top, left, out + at + c,
                      argmax ? argmax + at + c : nullptr);
      });
    }
  }
}

// The place of an output's window that lies on `at`, an index of the padded input along one axis;
// -1 if that is one of its gaps.
HWY_INLINE std::int64_t place_in(std::int64_t at, std::int64_t out, std::int64_t stride,
                                 std::int64_t dilation) {
  const std::int64_t distance = at - out * stride;
  return distance % dilation == 0 ? distance / dilation : -1;
}

template <class Index>
void max_derivative_rows(const PoolShape& s, const float* dy, const Index* argmax, float* dx,
                         std::int64_t begin, std::int64_t end) {
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t image = row / s.in_h * s.out_h * s.out_w;
    const std::int64_t y = row % s.in_h;
    const Span ys = covering(y, s.stride_h, s.pad_top, s.span_h(), s.out_h);
    for (std::int64_t x = 0; x < s.in_w; ++x) {
      const Span xs = covering(x, s.stride_w, s.pad_left, s.span_w(), s.out_w);
      for_columns(s.channels, [&](auto d, std::int64_t c) HWY_ATTR {
        const hn::RebindToSigned<decltype(d)> di;
        const hn::Rebind<Index, decltype(d)> dn;
        auto total = hn::Zero(d);
        for (std::int64_t oy = ys.begin; oy < ys.end; ++oy) {
          const std::int64_t ky = place_in(y + s.pad_top, oy, s.stride_h, s.dilation_h);
          for (std::int64_t ox = xs.begin; ky >= 0 && ox < xs.end; ++ox) {
            const std::int64_t kx = place_in(x + s.pad_left, ox, s.stride_w, s.dilation_w);
            if (kx < 0) continue;
            const std::int64_t at = (image + oy * s.out_w + ox) * s.channels + c;
            const auto place = static_cast<std::int32_t>(ky * s.kernel_w + kx);
            const auto where = hn::PromoteTo(di, hn::LoadU(dn, argmax + at));
            const auto mine = hn::Eq(where, hn::Set(di, place));
            total =
                hn::Add(total, hn::IfThenElseZero(hn::RebindMask(d, mine), hn::LoadU(d, dy + at)));
          }
        }
        hn::StoreU(total, d, dx + (row * s.in_w + x) * s.channels + c);
      });
    }
  }
}

void max_pool_rows(const PoolShape& s, const float* in, float* out, std::byte* argmax,
                   std::int64_t begin, std::int64_t end) {
  if (argmax_bytes(s) == 1)
    max_rows(s, in, out, reinterpret_cast<std::uint8_t*>(argmax), begin, end);
  else
    max_rows(s, in, out, reinterpret_cast<std::uint16_t*>(argmax), begin, end);
}

void max_pool_derivative_rows(const PoolShape& s, const float* dy, const std::byte* argmax,
                              float* dx, std::int64_t begin, std::int64_t end) {
  if (argmax_bytes(s) == 1)
    max_derivative_rows(s, dy, reinterpret_cast<const std::uint8_t*>(argmax), dx, begin, end);
  else
    max_derivative_rows(s, dy, reinterpret_cast<const std::uint16_t*>(argmax), dx, begin, end);
}

void average_rows(const PoolShape& s, const float* in, float* out, std::int64_t begin,
                  std::int64_t end) {
  for (std::int64_t row = begin; row < end; ++row) {
    const float* image = in + row / s.out_h * s.in_h * s.in_w * s.channels;
    const Span ys = window(row % s.out_h, s.stride_h, s.pad_top, s.kernel_h, s.in_h);
    for (std::int64_t x = 0; x < s.out_w; ++x) {
      const Span xs = window(x, s.stride_w, s.pad_left, s.kernel_w, s.in_w);
      const float count = divisor(s, row % s.out_h, x);
      for_columns(s.channels, [&](auto d, std::int64_t c) HWY_ATTR {
        auto total = hn::Zero(d);
        for (std::int64_t iy = ys.begin; iy < ys.end; ++iy) {
          for (std::int64_t ix = xs.begin; ix < xs.end; ++ix) {
            total = hn::Add(total, hn::LoadU(d, image + (iy * s.in_w + ix) * s.channels + c));
          }
        }
        hn::StoreU(hn::Div(total, hn::Set(d, count)), d,
                   out + (row * s.out_w + x) * s.channels + c);
      });
    }
  }
}

void average_derivative_rows(const PoolShape& s, const float* dy, float* dx, std::int64_t begin,
                             std::int64_t end) {
  for (std::int64_t row = begin; row < end; ++row) {
    const float* image = dy + row / s.in_h * s.out_h * s.out_w * s.channels;
    const Span ys = covering(row % s.in_h, s.stride_h, s.pad_top, s.kernel_h, s.out_h);
    for (std::int64_t x = 0; x < s.in_w; ++x) {
      const Span xs = covering(x, s.stride_w, s.pad_left, s.kernel_w, s.out_w);
      for_columns(s.channels, [&](auto d, std::int64_t c) HWY_ATTR {
        auto total = hn::Zero(d);
        for (std::int64_t oy = ys.begin; oy < ys.end; ++oy) {
          for (std::int64_t ox = xs.begin; ox < xs.end; ++ox) {
            const auto share = hn::Set(d, 1.0F / divisor(s, oy, ox));
            const auto g = hn::LoadU(d, image + (oy * s.out_w + ox) * s.channels + c);
            total = hn::MulAdd(g, share, total);
          }
        }
        hn::StoreU(total, d, dx + (row * s.in_w + x) * s.channels + c);
      });
    }
  }
}

void global_average_samples(const float* in, float* out, std::int64_t pixels, std::int64_t channels,
                            std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kBlock = 64;  // short sums first, so that large images round no worse
  for (std::int64_t n = begin; n < end; ++n) {
    for_columns(channels, [&](auto d, std::int64_t c) HWY_ATTR {
      const float* column = in + n * pixels * channels + c;
      auto total = hn::Zero(d);
      for (std::int64_t block = 0; block < pixels; block += kBlock) {
        auto part = hn::Zero(d);
        const std::int64_t stop = std::min(pixels, block + kBlock);
        for (std::int64_t p = block; p < stop; ++p)
          part = hn::Add(part, hn::LoadU(d, column + p * channels));
        total = hn::Add(total, part);
      }
      const auto count = hn::Set(d, static_cast<float>(pixels));
      hn::StoreU(hn::Div(total, count), d, out + n * channels + c);
    });
  }
}

void global_average_derivative_samples(const float* dy, float* dx, std::int64_t pixels,
                                       std::int64_t channels, std::int64_t begin,
                                       std::int64_t end) {
  const float share = 1.0F / static_cast<float>(pixels);
  for (std::int64_t p = begin * pixels; p < end * pixels; ++p) {
    const float* from = dy + p / pixels * channels;
    for_columns(channels, [&](auto d, std::int64_t c) HWY_ATTR {
      hn::StoreU(hn::Mul(hn::LoadU(d, from + c), hn::Set(d, share)), d, dx + p * channels + c);
    });
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moil {

HWY_EXPORT(max_pool_rows);
HWY_EXPORT(max_pool_derivative_rows);
HWY_EXPORT(average_rows);
HWY_EXPORT(average_derivative_rows);
HWY_EXPORT(global_average_samples);
HWY_EXPORT(global_average_derivative_samples);

std::size_t argmax_bytes(const PoolShape& shape) {
  return shape.kernel_h * shape.kernel_w <= 256 ? 1 : 2;
}

void max_pool(const PoolShape& shape, const float* in, float* out, std::byte* argmax,
              std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(max_pool_rows)(shape, in, out, argmax, begin, end);
}

void max_pool_derivative(const PoolShape& shape, const float* dy, const std::byte* argmax,
                         float* dx, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(max_pool_derivative_rows)(shape, dy, argmax, dx, begin, end);
}

void average_pool(const PoolShape& shape, const float* in, float* out, std::int64_t begin,
                  std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(average_rows)(shape, in, out, begin, end);
}

void average_pool_derivative(const PoolShape& shape, const float* dy, float* dx, std::int64_t begin,
                             std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(average_derivative_rows)(shape, dy, dx, begin, end);
}

void global_average_pool(const float* in, float* out, std::int64_t pixels, std::int64_t channels,
                         std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(global_average_samples)(in, out, pixels, channels, begin, end);
}

void global_average_pool_derivative(const float* dy, float* dx, std::int64_t pixels,
                                    std::int64_t channels, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(global_average_derivative_samples)(dy, dx, pixels, channels, begin, end);
}

}  // namespace moil
#endif  // HWY_ONCE
