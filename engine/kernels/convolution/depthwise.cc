#include "engine/kernels/convolution/depthwise.h"

#include <limits>

#include "engine/kernels/convolution/depthwise_taps.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/simd/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/convolution/depthwise.cc"
#include "hwy/foreach_target.h"
//
#include "engine/kernels/simd/clamp-inl.h"
#include "engine/kernels/simd/simd-inl.h"
#include "hwy/highway.h"

#ifndef MOIL_ENGINE_KERNELS_DEPTHWISE_STRETCH_
#define MOIL_ENGINE_KERNELS_DEPTHWISE_STRETCH_
namespace moil {
namespace {

// Pixels of a line that meet the same taps.
struct DepthwiseStretch {
  const TapList* taps;
  std::int64_t pixels;
  std::int64_t source_step, dest_step;  // in floats
  const float* weights;
  float* dest;
  std::int64_t channels;
  GemmEpilogue epilogue;
};

}  // namespace
}  // namespace moil
#endif

HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {
namespace {

template <int kPixels, class D>
HWY_INLINE void depthwise_pixels(D d, const DepthwiseStretch& s, std::int64_t pixel,
                                 std::int64_t c) {
  using V = hn::Vec<D>;
  V sum[kPixels];
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) sum[p] = hn::Zero(d);
  for (int t = 0; t < s.taps->count; ++t) {
    const V w = hn::LoadU(d, s.weights + s.taps->kernel_index[t] * s.channels + c);
    const float* from = s.taps->source[t] + pixel * s.source_step + c;
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p)
      sum[p] = hn::MulAdd(hn::LoadU(d, from + p * s.source_step), w, sum[p]);
  }
  const V bias = s.epilogue.bias ? hn::LoadU(d, s.epilogue.bias + c) : hn::Zero(d);
  const bool clamps = s.epilogue.activation != FusedActivation::kNone;
  const V high = hn::Set(d, s.epilogue.activation == FusedActivation::kRelu6
                                ? 6.0F
                                : std::numeric_limits<float>::infinity());
  float* to = s.dest + pixel * s.dest_step + c;
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) {
    V out = hn::Add(sum[p], bias);
    if (clamps) out = at_most(at_least(out, hn::Zero(d)), high);
    hn::StoreU(out, d, to + p * s.dest_step);
  }
}

template <int kPixels>
HWY_INLINE std::int64_t depthwise_blocks(const DepthwiseStretch& s, std::int64_t pixel) {
  for (; pixel + kPixels <= s.pixels; pixel += kPixels) {
    for_columns(s.channels, [&](auto d, std::int64_t c)
                                HWY_ATTR { depthwise_pixels<kPixels>(d, s, pixel, c); });
  }
  return pixel;
}

void depthwise_stretch(const DepthwiseStretch& s) {
  std::int64_t pixel = depthwise_blocks<8>(s, 0);
  pixel = depthwise_blocks<4>(s, pixel);
  pixel = depthwise_blocks<2>(s, pixel);
  depthwise_blocks<1>(s, pixel);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moil {
namespace {

HWY_EXPORT(depthwise_stretch);

std::int64_t line_grain(const ConvShape& s, std::int64_t width) {
  return std::max<std::int64_t>(1, 64 * 1024 / (width * s.in_channels * s.kernel_area()));
}

}  // namespace

void depthwise_forward(const ConvShape& s, const float* input, const float* weights,
                       const GemmEpilogue& epilogue, float* output) {
  const std::int64_t channels = s.in_channels, out_h = s.out_h(), out_w = s.out_w();
  const AxisTaps vertical =
      forward_taps(s.kernel_h, s.stride_h, s.dilation_h, s.pad_top, s.in_h, out_h);
  const AxisTaps horizontal =
      forward_taps(s.kernel_w, s.stride_w, s.dilation_w, s.pad_left, s.in_w, out_w);
  const std::int64_t line_length = s.in_w * channels;
  parallel_for(s.batch * out_h, line_grain(s, out_w), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end; ++line) {
      const float* image = input + line / out_h * s.in_h * line_length;
      float* to = output + line * out_w * channels;
      walk_line(vertical, horizontal, line % out_h, out_w, s.kernel_w, image, line_length, channels,
                [&](std::int64_t first, std::int64_t pixels, const TapList& taps) {
                  HWY_DYNAMIC_DISPATCH(depthwise_stretch)
                  (DepthwiseStretch{&taps, pixels, s.stride_w * channels, channels, weights,
                                    to + first * channels, channels, epilogue});
                });
    }
  });
}

void depthwise_derivative(const ConvShape& s, const float* output_derivative, const float* weights,
                          float* input_derivative) {
  const std::int64_t channels = s.in_channels, out_h = s.out_h(), out_w = s.out_w();
  const std::int64_t line_length = out_w * channels;
  parallel_for(s.batch * s.in_h, line_grain(s, s.in_w), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t n = line / s.in_h, y = line % s.in_h;
      const AxisTaps vertical = derivative_taps(s.kernel_h, s.stride_h, s.dilation_h, s.pad_top,
                                                y % s.stride_h, s.in_h, out_h);
      // All pixels of a phase of the stride meet the same taps, but for the borders.
      for (std::int64_t px = 0; px < std::min(s.stride_w, s.in_w); ++px) {
        const AxisTaps horizontal =
            derivative_taps(s.kernel_w, s.stride_w, s.dilation_w, s.pad_left, px, s.in_w, out_w);
        const std::int64_t size = (s.in_w - px + s.stride_w - 1) / s.stride_w;
        float* to = input_derivative + (line * s.in_w + px) * channels;
        walk_line(vertical, horizontal, y / s.stride_h, size, s.kernel_w,
                  output_derivative + n * out_h * line_length, line_length, channels,
                  [&](std::int64_t first, std::int64_t pixels, const TapList& taps) {
                    HWY_DYNAMIC_DISPATCH(depthwise_stretch)
                    (DepthwiseStretch{&taps,
                                      pixels,
                                      channels,
                                      s.stride_w * channels,
                                      weights,
                                      to + first * s.stride_w * channels,
                                      channels,
                                      {}});
                  });
      }
    }
  });
}

}  // namespace moil
#endif  // HWY_ONCE
