#include <cstring>

#include "engine/kernels/convolution/depthwise.h"
#include "engine/kernels/convolution/depthwise_taps.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/simd/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/convolution/depthwise_gradient.cc"
#include "hwy/foreach_target.h"
//
#include "engine/kernels/simd/simd-inl.h"
#include "hwy/highway.h"

#ifndef MOIL_ENGINE_KERNELS_DEPTHWISE_GRADIENT_STRETCH_
#define MOIL_ENGINE_KERNELS_DEPTHWISE_GRADIENT_STRETCH_
namespace moil {
namespace {

struct GradientStretch {
  const TapList* taps;
  std::int64_t pixels;
  std::int64_t source_step;  // in floats
  const float* derivative;   // of the stretch's first output pixel
  float* gradient;           // [KH*KW][C]: added to
  std::int64_t channels;
};

}  // namespace
}  // namespace moil
#endif

HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kPixelsAtOnce = 28;  // of one channel vector: stays in the cache

template <int kTaps, class D>
HWY_INLINE void gradient_taps(D d, const GradientStretch& s, int tap, std::int64_t pixel,
                              std::int64_t pixels, std::int64_t c) {
  using V = hn::Vec<D>;
  V sum[kTaps];
  const float* from[kTaps];
#pragma GCC unroll 5
  for (int t = 0; t < kTaps; ++t) {
    sum[t] = hn::Zero(d);
    from[t] = s.taps->source[tap + t] + pixel * s.source_step + c;
  }
  const float* dy = s.derivative + pixel * s.channels + c;
  std::int64_t step = 0;
  for (std::int64_t p = 0; p < pixels; ++p, dy += s.channels, step += s.source_step) {
    const V y = hn::LoadU(d, dy);
#pragma GCC unroll 5
    for (int t = 0; t < kTaps; ++t) sum[t] = hn::MulAdd(hn::LoadU(d, from[t] + step), y, sum[t]);
  }
#pragma GCC unroll 5
  for (int t = 0; t < kTaps; ++t) {
    float* to = s.gradient + s.taps->kernel_index[tap + t] * s.channels + c;
    hn::StoreU(hn::Add(hn::LoadU(d, to), sum[t]), d, to);
  }
}

void gradient_stretch(const GradientStretch& s) {
  for (std::int64_t pixel = 0; pixel < s.pixels; pixel += kPixelsAtOnce) {
    const std::int64_t pixels = std::min(kPixelsAtOnce, s.pixels - pixel);
    for_columns(s.channels, [&](auto d, std::int64_t c) HWY_ATTR {
      int tap = 0;
      for (; tap + 5 <= s.taps->count; tap += 5) gradient_taps<5>(d, s, tap, pixel, pixels, c);
      switch (s.taps->count - tap) {
        case 4:
          return gradient_taps<4>(d, s, tap, pixel, pixels, c);
        case 3:
          return gradient_taps<3>(d, s, tap, pixel, pixels, c);
        case 2:
          return gradient_taps<2>(d, s, tap, pixel, pixels, c);
        case 1:
          return gradient_taps<1>(d, s, tap, pixel, pixels, c);
        default:
          return;
      }
    });
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moil {
namespace {

HWY_EXPORT(gradient_stretch);

int parts_of(const ConvShape& s) {
  const std::int64_t line = s.out_w() * s.in_channels * s.kernel_area();
  return part_count(s.batch * s.out_h(), std::max<std::int64_t>(1, 64 * 1024 / line));
}

}  // namespace

std::size_t depthwise_gradient_workspace(const ConvShape& s) {
  return static_cast<std::size_t>((parts_of(s) - 1) * s.weight_elements()) * sizeof(float);
}

void depthwise_gradient(const ConvShape& s, const float* input, const float* output_derivative,
                        float* gradient, bool accumulate, std::byte* workspace) {
  const std::int64_t channels = s.in_channels, out_h = s.out_h(), out_w = s.out_w();
  const AxisTaps vertical =
      forward_taps(s.kernel_h, s.stride_h, s.dilation_h, s.pad_top, s.in_h, out_h);
  const AxisTaps horizontal =
      forward_taps(s.kernel_w, s.stride_w, s.dilation_w, s.pad_left, s.in_w, out_w);
  const std::int64_t line_length = s.in_w * channels, elements = s.weight_elements();
  const auto bytes = static_cast<std::size_t>(elements) * sizeof(float);
  auto* partials = reinterpret_cast<float*>(workspace);
  if (!accumulate) std::memset(gradient, 0, bytes);
  const int parts = parts_of(s);
  parallel_parts(parts, [&](int part) {
    float* sums = part == 0 ? gradient : partials + (part - 1) * elements;
    if (part > 0) std::memset(sums, 0, bytes);
    const Range lines = part_of(s.batch * out_h, part, parts);
    for (std::int64_t line = lines.begin; line < lines.end; ++line) {
      const float* dy = output_derivative + line * out_w * channels;
      walk_line(vertical, horizontal, line % out_h, out_w, s.kernel_w,
                input + line / out_h * s.in_h * line_length, line_length, channels,
                [&](std::int64_t first, std::int64_t pixels, const TapList& taps) {
                  HWY_DYNAMIC_DISPATCH(gradient_stretch)
                  (GradientStretch{&taps, pixels, s.stride_w * channels, dy + first * channels,
                                   sums, channels});
                });
    }
  });
  for (int part = 1; part < parts; ++part)
    for (std::int64_t i = 0; i < elements; ++i) gradient[i] += partials[(part - 1) * elements + i];
}

}  // namespace moil
#endif  // HWY_ONCE
